"""The ways to a fitted law: exact search, a given form, and the paper's trainers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ecsel._typing import Floats, Mask
from ecsel.discovery.criterion import Criterion
from ecsel.discovery.discover import discover
from ecsel.discovery.exponent_estimates import is_same_law, with_estimates
from ecsel.discovery.fitted import Constant, FittedLaw, inner_slope
from ecsel.discovery.form import Form
from ecsel.discovery.form_fit import fit_form
from ecsel.discovery.found import Discovery
from ecsel.discovery.lattice import default_exponents
from ecsel.discovery.law import Law
from ecsel.discovery.model import Structure
from ecsel.discovery.noise import PER_ROW, Noise, NoiseModel
from ecsel.discovery.options import Options
from ecsel.discovery.paper import PaperSettings, train
from ecsel.discovery.progress import Progress, silent
from ecsel.discovery.residual_tests import Misfit, misfit
from ecsel.discovery.rows import Rows
from ecsel.discovery.x_errors import distances, fit_orthogonal
from ecsel.signomial import Signomial, Term


@dataclass(frozen=True, eq=False)
class Table:
    """Raw columns with their names, a target, optional weights, and what is assumed of the noise.

    The weights hold the precision of the noise. ``known`` is the part of the target that was taken out of ``y``;
    ``measured`` is the target itself where ``y`` is a working target, ``x_error`` holds the errors of columns.
    """

    X: Floats
    y: Floats
    weight: Floats | None
    names: tuple[str, ...]
    noise: NoiseModel = field(default_factory=NoiseModel)
    known: Floats | float = 0.0
    measured: Floats | None = None
    x_error: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def target(self) -> Floats:
        """The target as it was measured, where ``y`` is a working target without its known part."""
        return self.y + self.known if self.measured is None else self.measured

    @property
    def n_rows(self) -> int:
        """Rows that count."""
        return len(self.y) if self.weight is None else int((self.weight > 0).sum())

    @property
    def columns(self) -> dict[str, Floats]:
        """The columns by name."""
        return {name: self.X[:, j] for j, name in enumerate(self.names)}

    def with_noise(self, law: FittedLaw) -> FittedLaw:
        """Return a law that knows what noise a new row must expect.

        Relative noise has the standard deviation s |f|, where s^2 is the mean of (residual / |f|)^2 per degree of
        freedom over the rows, weighted as the user weighs them.
        """
        model = self.noise
        plain = self.target - self.known - np.broadcast_to(Signomial(law.terms).evaluate(self.columns), len(self.y))
        with np.errstate(over="ignore"):
            law = replace(law, plain_mse=float(np.mean(plain**2)))
        if model.kind == PER_ROW:
            return replace(law, noise=Noise(PER_ROW, estimated=False))
        if model.size is None or self.weight is None:
            known = model.variance is not None
            variance = law.noise_variance if model.variance is None else model.variance
            return replace(law, noise=Noise(sigma=float(np.sqrt(variance)), estimated=not known))
        fitted = Signomial(law.terms).evaluate(self.columns)
        own = self.weight * (model.size / model.size.max()) ** 2
        around = model.around(fitted + self.known, self.target)
        residual = around.working_target(self.target) - self.known - fitted
        share = 0.0 if around.size is None else float(own @ (residual / around.size) ** 2 / own.sum())
        return replace(law, noise=Noise(model.kind, float(np.sqrt(share * self.n_rows / law.degrees_of_freedom))))

    def length_in_target_units(self, code_length: float) -> float:
        """Return a code length of the weighted working target as one of the target, comparable between noise models.

        Residuals multiplied by √w have the density of the target times 1/√w; ln y has that of y times |y|.
        """
        if self.weight is None:
            return code_length
        length = code_length - 0.5 * float(np.log(self.weight[self.weight > 0]).sum())
        if self.noise.centre is not None and self.noise.size is not None:
            counted = self.weight > 0
            length += float(np.log(np.abs(self.target / self.noise.size))[counted].sum())
        return length


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted law, the front it was chosen from, the laws that are as good, and how the search ended.

    ``structures`` are the monomials of all of them, as other searches in the same table may take them up, and ``laws``
    the laws that they belong to.
    """

    law: FittedLaw
    path: tuple[FittedLaw, ...]
    near_ties: tuple[FittedLaw, ...] = ()
    left_out: tuple[str, ...] = ()
    misfit: Misfit = field(default_factory=Misfit)
    largest_leverage: float = 0.0
    explodes: bool = False
    complete: bool = True
    interrupted: bool = False
    structures: tuple[Structure, ...] = ()
    laws: tuple[FittedLaw, ...] = ()


def _named(table: Table, options: Options, law: Law, validation: float) -> FittedLaw:
    points = default_exponents() if options.exponents is None else options.exponents
    by_value = {round(float(b), 7): b for b in points}
    named = FittedLaw.from_law(
        law,
        table.names,
        lambda value: by_value.get(round(value, 7)),
        validation_mse=validation,
        never_negative=np.all(table.X >= 0, axis=0).tolist(),
    )
    return table.with_noise(named)


def _monomials(law: FittedLaw) -> frozenset[str]:
    """Return the monomials of a law as they are printed, exponents to four digits."""
    return frozenset(format(Signomial([Term.from_factors(1.0, t.factors)]), ".4g") for t in law.terms)


def _outcome(table: Table, options: Options, found: Discovery) -> Outcome:
    def named(laws: Sequence[Law], errors: Sequence[float]) -> tuple[FittedLaw, ...]:
        return tuple(_named(table, options, law, error) for law, error in zip(laws, errors, strict=True))

    law = _named(table, options, found.law, found.error)
    rows = Rows.from_table(table.X, table.y, table.weight)
    law = with_estimates(law, rows, found.law.structure, table.names)
    # The same monomials with another parity or digit are the same law to a reader.
    near, path = named(found.near_ties, found.near_errors), named(found.front, found.front_errors)
    ties = {_monomials(tie): tie for tie in reversed(near)}
    ties.pop(_monomials(law), None)
    return Outcome(
        law,
        path,
        tuple(sorted((t for t in ties.values() if not is_same_law(law, t)), key=lambda tie: tie.code_length)),
        tuple(table.names[j] for j in found.left_out),
        found.misfit,
        found.largest_leverage,
        found.explodes,
        found.complete,
        found.interrupted,
        tuple(law.structure for law in (found.law, *found.near_ties, *found.front)),
        (law, *near, *path),
    )


def by_search(table: Table, options: Options, progress: Progress = silent) -> Outcome:
    """Return the law with the shortest code length."""
    return _outcome(table, options, discover(table.X, table.y, table.weight, options, progress))


def by_paper(table: Table, n_terms: int, seed: int, settings: PaperSettings) -> Outcome:
    """Return the paper's fit with K terms; no exponent is rounded."""
    coefficients, exponents = train(table.X, table.y, n_terms, np.random.default_rng(seed), settings)
    terms = [
        Term(float(a), {n: float(e) for n, e in zip(table.names, b, strict=True)})
        for a, b in zip(coefficients, exponents, strict=True)
    ]
    free = [(k, n) for k, t in enumerate(terms) for n in table.names if n in t.exponents]
    return _plain(table, tuple(terms), tuple(free))


def by_form(table: Table, text: str, seed: int) -> Outcome:
    """Return the given form with its constants fitted."""
    form = Form.parse(text, table.names)
    columns = table.columns
    root = None if table.weight is None else np.sqrt(table.weight)
    constants = fit_form(form, columns, table.y, root, np.random.default_rng(seed))
    terms = form.written(constants, columns)
    check_defined(text, terms, columns)
    return _plain(table, terms, form.free, constants, form.chain(constants), form.inner(constants, terms))


def by_orthogonal_form(table: Table, text: str, seed: int) -> Outcome:
    """Return the given form with its constants fitted by distances that allow for errors in columns.

    Residuals are the distances in units of the target: those of a row of mean precision have the variance of its noise.
    """
    if table.noise.variance is None:
        raise ValueError("x_error needs the noise of the target too: noise= a standard deviation, or one for each row")
    form = Form.parse(text, table.names)
    columns, errors = table.columns, table.x_error
    weight = np.ones(len(table.y)) if table.weight is None else table.weight
    variance = table.noise.variance / np.maximum(weight, 1e-300)
    constants = fit_orthogonal(form, columns, table.y, variance, errors, np.random.default_rng(seed))
    terms = form.written(constants, columns)
    found = distances(form, constants, columns, table.y, variance, errors)
    check_defined(text, terms, found.columns)
    unit = np.sqrt(table.noise.variance)
    parts = FormParts(terms, form.free, form.inner(constants, terms), constants, form.chain(constants))
    jacobian = found.by_constant * (unit / np.sqrt(found.variance))[:, None]
    energy = float(np.sum(table.y**2 / found.variance)) * table.noise.variance
    return described(table, parts, jacobian, found.residual * unit, energy)


def check_defined(text: str, terms: Sequence[Term], columns: Mapping[str, Floats]) -> None:
    """Refuse a form that no constants were found for at which it is defined in every row."""
    try:
        for term in terms:
            term.evaluate(columns)
    except ValueError as error:
        raise ValueError(
            f"form={text!r}: no constants were found at which it is defined in all rows: {error}"
        ) from error


def _plain(
    table: Table,
    terms: tuple[Term, ...],
    free: tuple[tuple[int, str], ...],
    constants: Mapping[str, float] | None = None,
    chain: Floats | None = None,
    inner: Sequence[tuple[int, int, str]] = (),
) -> Outcome:
    """Return an outcome for given terms: covariance from the derivatives by coefficients, exponents and inner numbers.

    Where these follow from fewer ``constants``, ``chain`` holds their derivatives by them.
    """
    columns = table.columns
    n = len(table.y)
    root = np.ones(n) if table.weight is None else np.sqrt(table.weight)
    monomials = [np.broadcast_to(Term.from_factors(1.0, t.factors).evaluate(columns), n).astype(float) for t in terms]
    design = [*monomials]
    for k, name in free:
        x = np.abs(columns[name])
        # x^b ln x vanishes with x for b > 0
        logs = np.log(x, out=np.zeros(n), where=x > 0)
        design.append(terms[k].coefficient * monomials[k] * logs)
    design += [inner_slope(terms[k], i, what, columns, terms[k].coefficient * monomials[k]) for k, i, what in inner]
    jacobian = np.column_stack(design) * root[:, None] if design else np.zeros((n, 0))
    chain = np.eye(len(design)) if chain is None else chain
    fitted = np.sum([t.coefficient * m for t, m in zip(terms, monomials, strict=True)], axis=0) if terms else 0.0
    parts = FormParts(terms, free, tuple(inner), constants or {}, chain)
    return described(
        table, parts, jacobian @ chain, (table.y - fitted) * root, float((table.y * root) @ (table.y * root))
    )


@dataclass(frozen=True, eq=False)
class FormParts:
    """The terms of a fitted form, where its numbers stand, its constants, and the derivatives of numbers by them.

    The numbers are the coefficients, the ``free`` exponents, then the ``inner`` ones.
    """

    terms: tuple[Term, ...]
    free: tuple[tuple[int, str], ...]
    inner: tuple[tuple[int, int, str], ...]
    constants: Mapping[str, float]
    chain: Floats


def described(table: Table, parts: FormParts, jacobian: Floats, residual: Floats, energy: float) -> Outcome:
    """Return the outcome of a least-squares problem with weighted residuals, derivatives and sum of squared targets."""
    inverse, known, rank = _inverse(jacobian)
    rss, left = float(residual @ residual), max(table.n_rows - rank, 1)
    variance = rss / left if table.noise.variance is None else table.noise.variance
    leverage = np.einsum("np,pq,nq->n", jacobian, inverse, jacobian)
    left_out = float(np.sum((residual / np.maximum(1.0 - leverage, 1e-9)) ** 2) / table.n_rows)
    constants = parts.constants
    errors = np.where(known, np.sqrt(np.diag(inverse) * variance), np.inf)[: len(constants)]
    law = FittedLaw(
        parts.terms,
        (False,) * len(parts.terms),
        parts.free,
        parts.chain @ inverse @ parts.chain.T * variance,
        rss / left,
        left,
        float(Criterion(table.n_rows, float(energy)).data(rss, rank)),
        rss / table.n_rows,
        left_out,
        constants=tuple(
            Constant(name, value, error)
            for (name, value), error in zip(constants.items(), errors.tolist(), strict=True)
        ),
        constant_covariance=inverse * variance if constants else np.zeros((0, 0)),
        inner=parts.inner,
    )
    law = table.with_noise(law)
    rows = Rows.from_table(table.X, table.y, table.weight)
    return Outcome(law, (law,), misfit=misfit(rows, residual, jacobian, rank))


def _inverse(jacobian: Floats) -> tuple[Floats, Mask, int]:
    """Return (J'J)^+, which parameters the data determine by themselves, and the rank of J.

    Directions that no row shows are left out, so that what does not depend on them keeps its exact variance.
    """
    norm = np.sqrt(np.einsum("np,np->p", jacobian, jacobian))
    scale = np.where(norm > 0, norm, 1.0)
    _, s, vt = np.linalg.svd(np.linalg.qr(jacobian / scale, mode="r"))
    s = np.concatenate([s, np.zeros(len(vt) - len(s))])
    seen = s > 1e-10 * max(float(s.max(initial=0.0)), 1e-300)
    root = vt[seen].T / s[seen]
    determined = np.abs(vt[~seen]).max(axis=0, initial=0.0) < 1e-7
    return np.asarray((root @ root.T) / np.outer(scale, scale)), determined, int(seen.sum())
