/* The bindings: NumPy arrays in through the buffer protocol, the loops without the interpreter's lock. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "simd.h"

#include <stddef.h>
#include <stdlib.h>

enum { MAX_BUFFERS = 19 };

typedef struct {
    Py_buffer view[MAX_BUFFERS];
    int count;
} Buffers;

static void release(Buffers *b) {
    while (b->count > 0) PyBuffer_Release(&b->view[--b->count]);
}

enum { DOUBLES = 'd', FLOATS = 'f', INTEGERS = 'q', PLACES = 'i', BYTES = 'B' };

/* Whether an array holds what is wanted. */
static int is_of(const Py_buffer *view, int kind) {
    if (view->format == NULL || view->format[0] == 0) return 0;
    const char format = view->format[0];
    const Py_ssize_t size = kind == BYTES ? 1 : kind == FLOATS || kind == PLACES ? 4 : 8;
    return view->itemsize == size && view->format[1] == 0 && (uintptr_t)view->buf % (size_t)size == 0 &&
           (format == kind || (kind == INTEGERS && format == 'l'));
}

/* The product of two sizes, −1 where one is negative or the product no size. */
static ptrdiff_t times(ptrdiff_t a, ptrdiff_t b) {
    return a < 0 || b < 0 || (b > 0 && a > PTRDIFF_MAX / (ptrdiff_t)sizeof(double) / b) ? -1 : a * b;
}

/* The data of an array of some kind; rows must be contiguous, and all else too unless `stride` is asked for: then it is
   a matrix of as many rows as `stride` says, one behind the other. NULL with an exception where that is not so. */
static void *take_kind(Buffers *b, PyObject *array, int kind, int writable, ptrdiff_t size, ptrdiff_t *stride) {
    Py_buffer *view = &b->view[b->count];
    const ptrdiff_t n_rows = stride == NULL ? 0 : *stride;
    if (size < 0) {
        PyErr_Format(PyExc_ValueError, "array %d of the kernel: its size is negative or too large", b->count + 1);
        return NULL;
    }
    const int flags = PyBUF_FORMAT | PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, view, flags) != 0) return NULL;
    b->count++;
    ptrdiff_t items = 1, inner = view->itemsize;
    int fits = is_of(view, kind) && (stride == NULL || (view->ndim == 2 && view->shape[0] == n_rows));
    for (int d = view->ndim - 1; d >= 0; d--) {
        if (d == 0 && stride != NULL) {
            *stride = view->strides[0] / view->itemsize;
            fits = fits && (n_rows <= 1 || (view->strides[0] >= inner && view->strides[0] % view->itemsize == 0));
        } else fits = fits && (view->shape[d] <= 1 || view->strides[d] == inner);
        inner *= view->shape[d];
        items *= view->shape[d];
    }
    if (!fits || items != size) {
        PyErr_Format(PyExc_ValueError, "array %d of the kernel: %zd contiguous numbers of kind '%c' are wanted",
                     b->count, (Py_ssize_t)size, kind);
        return NULL;
    }
    return view->buf;
}

static void *take(Buffers *b, PyObject *array, int integer, int writable, ptrdiff_t size, ptrdiff_t *stride) {
    return take_kind(b, array, integer ? INTEGERS : DOUBLES, writable, size, stride);
}

static PyObject *finish(Buffers *b, int status, PyObject *result) {
    release(b);
    if (status == 0) return result;
    Py_XDECREF(result);
    return PyErr_NoMemory();
}

/* Whether two sizes are not negative and their product is an ordinary number. */
static int sizes_fit(Py_ssize_t a, Py_ssize_t b) {
    if (a >= 0 && b >= 0 && (b == 0 || a <= PY_SSIZE_T_MAX / 64 / b)) return 1;
    PyErr_SetString(PyExc_ValueError, "sizes must not be negative, nor larger than memory");
    return 0;
}

static PyObject *py_solve_active_set(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[6];
    double tol, fall;
    int max_active_sets, status;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "nOOOOOOdi", &n, &array[0], &array[1], &array[2], &array[3], &array[4], &array[5], &tol,
                          &max_active_sets))
        return NULL;
    Buffers b = {.count = 0};
    double *data[6];
    for (int i = 0; i < 6; i++) {
        data[i] = take(&b, array[i], 0, i == 2, i == 0 ? times(n, n) : n, NULL);
        if (data[i] == NULL) {
            release(&b);
            return NULL;
        }
    }
    Py_BEGIN_ALLOW_THREADS status =
        solve_active_set(n, data[0], data[1], data[2], data[3], data[4], data[5], tol, max_active_sets, &fall);
    Py_END_ALLOW_THREADS return finish(&b, status, status == 0 ? PyFloat_FromDouble(fall) : NULL);
}

typedef enum { SIZE, INTEGER, REAL } Type;

/* A number of a tuple, and where it goes in a struct. */
typedef struct {
    const char *name;
    Type type;
    size_t at;
} Field;

#define FIELD(type, owner, member) {#member, type, offsetof(owner, member)}
#define COUNT(fields) ((int)(sizeof(fields) / sizeof *(fields)))

static int read_number(PyObject *number, const Field *field, void *into) {
    char *place = (char *)into + field->at;
    if (field->type == SIZE) {
        *(ptrdiff_t *)place = PyNumber_AsSsize_t(number, PyExc_OverflowError);
    } else if (field->type == INTEGER) {
        const long value = PyLong_AsLong(number);
        if (value != (int)value) PyErr_Format(PyExc_OverflowError, "%s does not fit an int", field->name);
        *(int *)place = (int)value;
    } else {
        *(double *)place = PyFloat_AsDouble(number);
    }
    return !PyErr_Occurred();
}

/* Whether a tuple has so many items; an exception says so where it has not. */
static int has_items(PyObject *tuple, const char *what, int count) {
    if (tuple != NULL && PyTuple_Check(tuple) && PyTuple_Size(tuple) == count) return 1;
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: a tuple of %d is wanted", what, count);
    return 0;
}

/* The numbers of a tuple, each into its field: the table of fields is the order in which Python gives them. */
static int read_fields(PyObject *tuple, const char *what, const Field *fields, int count, void *into) {
    if (!has_items(tuple, what, count)) return 0;
    for (int i = 0; i < count; i++)
        if (!read_number(PyTuple_GetItem(tuple, i), &fields[i], into)) return 0;
    return 1;
}

/* The items of a tuple from `first` on, which stays their owner. */
static void items(PyObject *tuple, int first, int count, PyObject **out) {
    for (int i = 0; i < count; i++) out[i] = PyTuple_GetItem(tuple, first + i);
}

static const Field SHAPE[] = {
    FIELD(SIZE, Shape, scores),    FIELD(SIZE, Shape, terms),           FIELD(SIZE, Shape, features),
    FIELD(SIZE, Shape, rows),      FIELD(INTEGER, Shape, intercept),    FIELD(INTEGER, Shape, form),
    FIELD(INTEGER, Shape, link),   FIELD(REAL, Shape, knee),            FIELD(REAL, Shape, largest_exponent),
    FIELD(REAL, Shape, series_below),
};

static int read_shape(PyObject *tuple, Shape *s) {
    if (!read_fields(tuple, "the shape of a problem", SHAPE, COUNT(SHAPE), s)) return 0;
    const ptrdiff_t sizes[4] = {s->scores, s->terms, s->features, s->rows};
    /* with a term or a row the arrays bound all sizes; what is multiplied of them below must be a size too */
    const ptrdiff_t width = times(1, sizes[2] < 0 ? -1 : sizes[2] + (sizes[2] < PTRDIFF_MAX));
    const ptrdiff_t terms = times(sizes[0], sizes[1]), own = times(terms, width), all = own < 0 ? -1 : own + sizes[0];
    if (sizes[0] < 1 || (sizes[1] < 1 && sizes[3] < 1) || (s->intercept & ~1) != 0 || (s->form & ~1) != 0 ||
        (s->link & ~1) != 0 || times(all, all) < 0 || times(times(terms, width), width) < 0 ||
        times(times(PLANES, terms), sizes[3]) < 0 || times(sizes[0], sizes[3]) < 0 || times(sizes[2], sizes[3]) < 0 ||
        times(256, sizes[2]) < 0) {
        PyErr_SetString(PyExc_ValueError, "the shape of a problem: a size is negative or too large, or a word unknown");
        return 0;
    }
    return 1;
}

/* θ, v, codes, w and the state, in that order. */
static int take_block(Buffers *b, PyObject *const array[7], const Shape *s, const double **theta, Rows *rows,
                      State *state, int writable) {
    const ptrdiff_t scored = s->scores * s->rows;
    rows->stride = s->features;
    return (*theta = take(b, array[0], 0, 0, s->scores * per_score(s), NULL)) != NULL &&
           (rows->v = take(b, array[1], 0, 0, s->features * s->rows, &rows->stride)) != NULL &&
           (rows->codes = take(b, array[2], 1, 0, s->rows, NULL)) != NULL &&
           (rows->w = take(b, array[3], 0, 0, s->rows, NULL)) != NULL &&
           (state->planes = take(b, array[4], 0, writable, PLANES * s->terms * scored, NULL)) != NULL &&
           (state->residual = take(b, array[5], 0, writable, scored, NULL)) != NULL &&
           (state->probabilities = take(b, array[6], 0, writable, scored, NULL)) != NULL;
}

static PyObject *py_forward(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[7];
    Shape s;
    if (!has_items(args, "forward", 8) || !read_shape(PyTuple_GetItem(args, 0), &s)) return NULL;
    items(args, 1, 7, array);
    Buffers b = {.count = 0};
    const double *theta;
    Rows rows;
    State state;
    if (!take_block(&b, array, &s, &theta, &rows, &state, 1)) {
        release(&b);
        return NULL;
    }
    double loss;
    int status;
    Py_BEGIN_ALLOW_THREADS status = forward(&s, theta, &rows, (Range){0, s.rows}, &state, &loss);
    Py_END_ALLOW_THREADS return finish(&b, status, status == 0 ? PyFloat_FromDouble(loss) : NULL);
}

static PyObject *py_derivatives(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[7], *out[3];
    Shape s;
    if (!has_items(args, "derivatives", 11) || !read_shape(PyTuple_GetItem(args, 0), &s)) return NULL;
    items(args, 1, 7, array);
    items(args, 8, 3, out);
    Buffers b = {.count = 0};
    const double *theta;
    Rows rows;
    State state;
    const ptrdiff_t all = s.scores * per_score(&s), width = 1 + s.features;
    const ptrdiff_t sizes[3] = {all, all * all, s.scores * s.terms * width * width};
    double *data[3] = {NULL, NULL, NULL};
    if (out[0] == Py_None || (out[1] == Py_None) != (out[2] == Py_None)) {
        PyErr_SetString(PyExc_ValueError, "derivatives: a gradient is wanted, and both matrices or none");
        return NULL;
    }
    int taken = take_block(&b, array, &s, &theta, &rows, &state, 0);
    for (int i = 0; taken && i < 3; i++)
        if (out[i] != Py_None) taken = (data[i] = take(&b, out[i], 0, 1, sizes[i], NULL)) != NULL;
    if (!taken) {
        release(&b);
        return NULL;
    }
    int status;
    Py_BEGIN_ALLOW_THREADS status =
        derivatives(&s, theta, &rows, (Range){0, s.rows}, &state, data[0], data[1], data[2]);
    if (status == 0 && data[1] != NULL) mirror_all(&s, data[1], data[2]);
    Py_END_ALLOW_THREADS return finish(&b, status, status == 0 ? Py_NewRef(Py_None) : NULL);
}

static const Field CHUNK_PLACE[] = {FIELD(SIZE, Packed, stride), FIELD(SIZE, Packed, first)};

/* (shape, θ, data, rows of the chunk, first row, coded, tables, centre, scale, weighted, gradient or None, errors or
   None): the loss of a chunk. */
static PyObject *py_sweep(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[6], *out[2];
    Shape s;
    Packed p = {.wide = 0};
    if (!has_items(args, "sweep", 12) || !read_shape(PyTuple_GetItem(args, 0), &s)) return NULL;
    items(args, 1, 2, array);
    items(args, 5, 4, array + 2);
    items(args, 10, 2, out);
    p.weighted = PyObject_IsTrue(PyTuple_GetItem(args, 9));
    if (p.weighted < 0 || !read_number(PyTuple_GetItem(args, 3), &CHUNK_PLACE[0], &p) ||
        !read_number(PyTuple_GetItem(args, 4), &CHUNK_PLACE[1], &p))
        return NULL;
    Buffers b = {.count = 0};
    const double *theta = NULL;
    double *gradient = NULL;
    float *errors = NULL;
    const ptrdiff_t all = s.scores * per_score(&s), m = s.features;
    int taken = (theta = take(&b, array[0], 0, 0, all, NULL)) != NULL &&
                (p.coded = take_kind(&b, array[2], BYTES, 0, m, NULL)) != NULL &&
                (p.tables = take_kind(&b, array[3], FLOATS, 0, 256 * m, NULL)) != NULL &&
                (p.centre = take_kind(&b, array[4], FLOATS, 0, m, NULL)) != NULL &&
                (p.scale = take_kind(&b, array[5], FLOATS, 0, m, NULL)) != NULL;
    for (ptrdiff_t j = 0; taken && j < m; j++) p.wide += p.coded[j] == 0;
    const ptrdiff_t per_row = 4 * (p.wide + p.weighted) + 1 + (m - p.wide);
    if (taken && (p.first < 0 || s.rows > p.stride || p.first > p.stride - s.rows)) {
        PyErr_SetString(PyExc_ValueError, "the chunk has fewer rows than are asked for");
        taken = 0;
    }
    taken = taken && (p.data = take_kind(&b, array[1], BYTES, 0, times(per_row, p.stride), NULL)) != NULL;
    if (taken && out[0] != Py_None) taken = (gradient = take(&b, out[0], 0, 1, all, NULL)) != NULL;
    if (taken && out[1] != Py_None) taken = (errors = take_kind(&b, out[1], FLOATS, 1, s.rows, NULL)) != NULL;
    if (!taken) {
        release(&b);
        return NULL;
    }
    double loss;
    int status;
    Py_BEGIN_ALLOW_THREADS status = sweep(&s, theta, &p, &loss, gradient, errors);
    Py_END_ALLOW_THREADS return finish(&b, status, status == 0 ? PyFloat_FromDouble(loss) : NULL);
}

/* (x, scale, offset, out): the log of the image; the smallest and the largest x. */
static PyObject *py_log_image(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[2];
    double scale, offset, extremes[2];
    if (!PyArg_ParseTuple(args, "OddO", &array[0], &scale, &offset, &array[1])) return NULL;
    const Py_ssize_t n = PyObject_Size(array[0]);
    if (n < 0) return NULL;
    Buffers b = {.count = 0};
    const double *x;
    float *out = NULL;
    if ((x = take(&b, array[0], 0, 0, n, NULL)) == NULL ||
        (out = take_kind(&b, array[1], FLOATS, 1, n, NULL)) == NULL) {
        release(&b);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS log_image(x, n, scale, offset, out, extremes);
    Py_END_ALLOW_THREADS return finish(&b, 0, Py_BuildValue("dd", extremes[0], extremes[1]));
}

/* (u, values, at, counts): how many numbers are one of the values, −1 where that is not known. */
static PyObject *py_places(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[4];
    if (!PyArg_ParseTuple(args, "OOOO", &array[0], &array[1], &array[2], &array[3])) return NULL;
    const Py_ssize_t n = PyObject_Size(array[0]), count = n < 0 ? -1 : PyObject_Size(array[1]);
    if (n < 0 || count < 0) return NULL;
    if (count < 1 || count > 256) {
        PyErr_SetString(PyExc_ValueError, "places: between 1 and 256 values are wanted");
        return NULL;
    }
    Buffers b = {.count = 0};
    const float *u, *values;
    uint8_t *at = NULL;
    int64_t *counts = NULL;
    if ((u = take_kind(&b, array[0], FLOATS, 0, n, NULL)) == NULL ||
        (values = take_kind(&b, array[1], FLOATS, 0, count, NULL)) == NULL ||
        (at = take_kind(&b, array[2], BYTES, 1, n, NULL)) == NULL ||
        (counts = take(&b, array[3], 1, 1, count, NULL)) == NULL) {
        release(&b);
        return NULL;
    }
    ptrdiff_t known;
    Py_BEGIN_ALLOW_THREADS known = places(u, n, values, count, at, counts);
    Py_END_ALLOW_THREADS return finish(&b, 0, PyLong_FromSsize_t((Py_ssize_t)known));
}

/* (u, reference): Σ (u − reference) and Σ (u − reference)². */
static PyObject *py_deviations(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array;
    double reference, sums[2];
    if (!PyArg_ParseTuple(args, "Od", &array, &reference)) return NULL;
    const Py_ssize_t n = PyObject_Size(array);
    if (n < 0) return NULL;
    Buffers b = {.count = 0};
    const float *u = take_kind(&b, array, FLOATS, 0, n, NULL);
    if (u == NULL) {
        release(&b);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS deviations(u, n, (float)reference, sums);
    Py_END_ALLOW_THREADS return finish(&b, 0, Py_BuildValue("dd", sums[0], sums[1]));
}

/* (start, numbers): SplitMix64 of start, start + 1, …, as numbers in [0, 1); see `row_uniforms` in sampling.py. */
static PyObject *py_uniforms(PyObject *self, PyObject *args) {
    (void)self;
    unsigned long long start;
    PyObject *array;
    if (!PyArg_ParseTuple(args, "KO", &start, &array)) return NULL;
    const Py_ssize_t n = PyObject_Size(array);
    if (n < 0) return NULL;
    Buffers b = {.count = 0};
    double *numbers = take(&b, array, 0, 1, n, NULL);
    if (numbers == NULL) {
        release(&b);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS uniforms(start, n, numbers);
    Py_END_ALLOW_THREADS return finish(&b, 0, Py_NewRef(Py_None));
}

/* (start, errors, weights, (each, rooted), rows, numbers): how many rows are drawn, and Σ w·√error. */
static PyObject *py_draw(PyObject *self, PyObject *args) {
    (void)self;
    unsigned long long start;
    PyObject *array[4];
    Chances c;
    if (!PyArg_ParseTuple(args, "KOO(dd)OO", &start, &array[0], &array[1], &c.each, &c.rooted, &array[2], &array[3]))
        return NULL;
    const Py_ssize_t n = PyObject_Size(array[0]);
    if (n < 0) return NULL;
    Buffers b = {.count = 0};
    const float *errors, *w;
    int32_t *rows = NULL;
    double *numbers = NULL;
    if ((errors = take_kind(&b, array[0], FLOATS, 0, n, NULL)) == NULL ||
        (w = take_kind(&b, array[1], FLOATS, 0, n, NULL)) == NULL ||
        (rows = take_kind(&b, array[2], PLACES, 1, n + 1, NULL)) == NULL ||
        (numbers = take(&b, array[3], 0, 1, n + 1, NULL)) == NULL) {
        release(&b);
        return NULL;
    }
    ptrdiff_t count;
    double total;
    Py_BEGIN_ALLOW_THREADS total = draw(start, n, errors, w, &c, rows, numbers, &count);
    Py_END_ALLOW_THREADS return finish(&b, 0, Py_BuildValue("nd", (Py_ssize_t)count, total));
}

typedef struct {
    PyThreadState *released;
    int failed;
} Interpreter;

/* Let Python's signal handlers run; an interrupt ends the fit with its best point, any other exception is passed on. */
static int signalled(void *context) {
    Interpreter *python = context;
    PyEval_RestoreThread(python->released);
    const int raised = PyErr_CheckSignals() != 0;
    if (raised && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_Clear();
    else python->failed = raised;
    python->released = PyEval_SaveThread();
    return raised;
}

/* (count, n, blocks, out): the positive parts of symmetric matrices; both arrays are (count, n, n). */
static PyObject *py_positive_parts(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[2];
    Py_ssize_t count, n;
    if (!PyArg_ParseTuple(args, "nnOO", &count, &n, &array[0], &array[1])) return NULL;
    Buffers b = {.count = 0};
    const double *blocks;
    double *out = NULL;
    const ptrdiff_t size = times(times(count, n), n);
    if ((blocks = take(&b, array[0], 0, 0, size, NULL)) == NULL ||
        (out = take(&b, array[1], 0, 1, size, NULL)) == NULL) {
        release(&b);
        return NULL;
    }
    if (size == 0) return finish(&b, 0, Py_NewRef(Py_None));
    double *room = malloc(sizeof(double) * (size_t)positive_part_room(n));
    if (room != NULL) {
        Py_BEGIN_ALLOW_THREADS for (Py_ssize_t i = 0; i < count; i++)
            positive_part(blocks + i * n * n, n, room, out + i * n * n);
        Py_END_ALLOW_THREADS
    }
    free(room);
    return finish(&b, room == NULL ? -1 : 0, room == NULL ? NULL : Py_NewRef(Py_None));
}

/* What a solver is given: rows, the parameters that it moves, what is penalised and allowed. */
static int take_problem(Buffers *b, PyObject *const array[7], const Shape *s, Rows *rows, double **theta,
                        PenaltyParts *penalty) {
    const ptrdiff_t all = s->scores * per_score(s);
    rows->stride = s->features;
    return (rows->v = take(b, array[0], 0, 0, s->features * s->rows, &rows->stride)) != NULL &&
           (rows->codes = take(b, array[1], 1, 0, s->rows, NULL)) != NULL &&
           (rows->w = take(b, array[2], 0, 0, s->rows, NULL)) != NULL &&
           (*theta = take(b, array[3], 0, 1, all, NULL)) != NULL &&
           (penalty->l1 = take(b, array[4], 0, 0, all, NULL)) != NULL &&
           (penalty->lower = take(b, array[5], 0, 0, all, NULL)) != NULL &&
           (penalty->upper = take(b, array[6], 0, 0, all, NULL)) != NULL;
}

/* A model, the lines of the matrix that its pieces are some of, and the number of ridges. */
typedef struct {
    Glm model;
    ptrdiff_t lines, ridges;
} GlmFits;

static const Field GLM_SIZES[] = {
    FIELD(INTEGER, GlmFits, model.kind),     FIELD(SIZE, GlmFits, model.scores),
    FIELD(SIZE, GlmFits, model.pieces),      FIELD(SIZE, GlmFits, model.rows),
    FIELD(INTEGER, GlmFits, model.intercept), FIELD(INTEGER, GlmFits, model.max_iter),
    FIELD(SIZE, GlmFits, lines),             FIELD(SIZE, GlmFits, ridges),
};
static const Field GLM_NUMBERS[] = {FIELD(REAL, GlmFits, model.tol), FIELD(REAL, GlmFits, model.intercept_ridge)};

/* (`GLM_SIZES`, `GLM_NUMBERS`, x in single or double precision, the lines of x that are the pieces or None for all, owners,
   y, w, ridge, offset or None, θ, scores, losses): θ moves from its first line to the minimiser under each ridge; losses
   are the penalised one and the plain one. */
static PyObject *py_glm_fit(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[10];
    GlmFits fits;
    if (!has_items(args, "glm_fit", 12) ||
        !read_fields(PyTuple_GetItem(args, 0), "glm_fit: sizes", GLM_SIZES, COUNT(GLM_SIZES), &fits) ||
        !read_fields(PyTuple_GetItem(args, 1), "glm_fit: numbers", GLM_NUMBERS, COUNT(GLM_NUMBERS), &fits))
        return NULL;
    items(args, 2, 10, array);
    Glm g = fits.model;
    const ptrdiff_t lines = fits.lines, ridges = fits.ridges, cells = times(lines, g.rows);
    if (g.scores < 1 || g.pieces < 0 || g.rows < 1 || ridges < 1 || (g.kind != GLM_SOFTMAX && g.scores != 1)) {
        PyErr_SetString(PyExc_ValueError, "glm_fit: sizes must be positive, and one score goes with two classes");
        return NULL;
    }
    Buffers b = {.count = 0};
    double *theta = NULL, *z = NULL, *losses = NULL;
    const int64_t *places = NULL;
    g.offset = NULL;
    g.single = NULL;
    g.x = take(&b, array[0], 0, 0, cells, NULL);
    if (g.x == NULL) {
        PyErr_Clear();
        g.single = take_kind(&b, array[0], FLOATS, 0, cells, NULL);
    }
    int taken = (g.x != NULL || g.single != NULL) &&
                (array[1] == Py_None || (places = take(&b, array[1], 1, 0, g.pieces, NULL)) != NULL) &&
                (places != NULL || lines == g.pieces) && (g.owner = take(&b, array[2], 1, 0, g.pieces, NULL)) != NULL &&
                (g.y = take(&b, array[3], 0, 0, g.rows, NULL)) != NULL &&
                (g.w = take(&b, array[4], 0, 0, g.rows, NULL)) != NULL &&
                (g.ridge = take(&b, array[5], 0, 0, times(ridges, g.pieces), NULL)) != NULL &&
                (array[6] == Py_None || (g.offset = take(&b, array[6], 0, 0, times(g.scores, g.rows), NULL)) != NULL) &&
                (theta = take(&b, array[7], 0, 1, times(ridges, g.scores + g.pieces), NULL)) != NULL &&
                (z = take(&b, array[8], 0, 1, times(ridges, times(g.scores, g.rows)), NULL)) != NULL &&
                (losses = take(&b, array[9], 0, 1, times(ridges, 2), NULL)) != NULL;
    for (ptrdiff_t k = 0; taken && k < g.pieces; k++)
        taken = g.owner[k] >= 0 && g.owner[k] < g.scores && (places == NULL || (places[k] >= 0 && places[k] < lines));
    for (ptrdiff_t i = 0; taken && g.kind == GLM_SOFTMAX && i < g.rows; i++) taken = g.y[i] >= 0 && g.y[i] < g.scores;
    if (!taken) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "glm_fit: owners and classes must name a score, places a piece");
        release(&b);
        return NULL;
    }
    int status = 0;
    Py_BEGIN_ALLOW_THREADS status = glm_fit_weighted(&g, places, ridges, theta, z, losses);
    Py_END_ALLOW_THREADS return finish(&b, status, status == 0 ? Py_NewRef(Py_None) : NULL);
}

static const Field GLM_ROWS[] = {FIELD(INTEGER, Glm, kind), FIELD(SIZE, Glm, scores), FIELD(SIZE, Glm, rows)};

/* (`GLM_ROWS`, scores, y, w, residuals, curvatures): fills the last two. */
static PyObject *py_glm_moments(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[5];
    Glm g = {0};
    if (!has_items(args, "glm_moments", 6) ||
        !read_fields(PyTuple_GetItem(args, 0), "glm_moments: sizes", GLM_ROWS, COUNT(GLM_ROWS), &g))
        return NULL;
    items(args, 1, 5, array);
    const ptrdiff_t scores = g.scores, rows = g.rows;
    Buffers b = {.count = 0};
    const double *z = NULL;
    double *residuals = NULL, *curvatures = NULL;
    int taken = sizes_fit(scores, rows) && scores > 0 && (g.kind == GLM_SOFTMAX || scores == 1) &&
                (z = take(&b, array[0], 0, 0, scores * rows, NULL)) != NULL &&
                (g.y = take(&b, array[1], 0, 0, rows, NULL)) != NULL &&
                (g.w = take(&b, array[2], 0, 0, rows, NULL)) != NULL &&
                (residuals = take(&b, array[3], 0, 1, scores * rows, NULL)) != NULL &&
                (curvatures = take(&b, array[4], 0, 1, scores * rows, NULL)) != NULL;
    for (ptrdiff_t i = 0; taken && g.kind == GLM_SOFTMAX && i < rows; i++) taken = g.y[i] >= 0 && g.y[i] < scores;
    if (!taken) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "glm_moments: classes must name a score");
        release(&b);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS glm_moments(&g, z, residuals, curvatures);
    Py_END_ALLOW_THREADS return finish(&b, 0, Py_NewRef(Py_None));
}

/* (parts, pairs, share, out, numbers): the standardised pieces; numbers are mean, width and largest size of each. */
static PyObject *py_standardise_pieces(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[5];
    Py_ssize_t parts, pieces, rows;
    if (!PyArg_ParseTuple(args, "nnnOOOOO", &parts, &pieces, &rows, &array[0], &array[1], &array[2], &array[3],
                          &array[4]))
        return NULL;
    Buffers b = {.count = 0};
    const double *values = NULL, *share = NULL;
    const int64_t *pairs = NULL;
    float *out = NULL;
    double *numbers = NULL;
    int taken = sizes_fit(parts, rows) && sizes_fit(pieces, rows) &&
                (values = take(&b, array[0], 0, 0, parts * rows, NULL)) != NULL &&
                (pairs = take(&b, array[1], 1, 0, 2 * pieces, NULL)) != NULL &&
                (share = take(&b, array[2], 0, 0, rows, NULL)) != NULL &&
                (out = take_kind(&b, array[3], FLOATS, 1, pieces * rows, NULL)) != NULL &&
                (numbers = take(&b, array[4], 0, 1, 3 * pieces, NULL)) != NULL;
    for (ptrdiff_t p = 0; taken && p < pieces; p++)
        taken = pairs[2 * p] >= 0 && pairs[2 * p] < parts && pairs[2 * p + 1] < parts;
    if (!taken) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "standardise_pieces: pairs must name parts");
        release(&b);
        return NULL;
    }
    int status;
    Py_BEGIN_ALLOW_THREADS status = standardise_pieces(values, pairs, pieces, rows, share, out, numbers);
    Py_END_ALLOW_THREADS return finish(&b, status, status == 0 ? Py_NewRef(Py_None) : NULL);
}

/* A look, and the number of atoms that the candidates are some of. */
typedef struct {
    Look look;
    ptrdiff_t atoms;
} Scan;

static const Field SCAN_SIZES[] = {
    FIELD(SIZE, Scan, atoms),      FIELD(SIZE, Scan, look.rows),   FIELD(SIZE, Scan, look.scores),
    FIELD(SIZE, Scan, look.count), FIELD(SIZE, Scan, look.active), FIELD(SIZE, Scan, look.considered),
};
static const Field SCAN_NUMBERS[] = {
    FIELD(REAL, Scan, look.collinear),
    FIELD(REAL, Scan, look.intercept_ridge),
    FIELD(REAL, Scan, look.min_gain),
};

/* (`SCAN_SIZES`, `SCAN_NUMBERS`, values, places, curvatures, residuals, (atoms, owners, coefficients, ridge, prices) of
   the members, (ridge, prices, usable, signs or None) of the candidates, (products, inverses, additions, steps, best,
   swaps)): a look at the candidates. */
static PyObject *py_piece_scan(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[19];
    Scan scan;
    Seen seen = {0};
    if (!has_items(args, "piece_scan", 9) ||
        !read_fields(PyTuple_GetItem(args, 0), "piece_scan: sizes", SCAN_SIZES, COUNT(SCAN_SIZES), &scan) ||
        !read_fields(PyTuple_GetItem(args, 1), "piece_scan: numbers", SCAN_NUMBERS, COUNT(SCAN_NUMBERS), &scan))
        return NULL;
    static const int parts[3] = {5, 4, 6}; /* arrays of the members, of the candidates, of what is seen */
    items(args, 2, 4, array);
    for (int part = 0, at = 4; part < 3; at += parts[part++]) {
        PyObject *tuple = PyTuple_GetItem(args, 6 + part);
        if (!has_items(tuple, "piece_scan: arrays", parts[part])) return NULL;
        items(tuple, 0, parts[part], array + at);
    }
    Look look = scan.look;
    const ptrdiff_t atoms = scan.atoms, rows = look.rows, scores = look.scores, count = look.count;
    const ptrdiff_t active = look.active, considered = look.considered;
    look.signs = NULL;
    Buffers b = {.count = 0};
    int taken = scores > 0 && sizes_fit(atoms, rows) && sizes_fit(scores, rows) && sizes_fit(active, rows) &&
                sizes_fit(active, active) && sizes_fit(active, count) && sizes_fit(scores, count) &&
                sizes_fit(scores, considered) &&
                (look.values = take_kind(&b, array[0], FLOATS, 0, atoms * rows, NULL)) != NULL &&
                (look.places = take(&b, array[1], 1, 0, count, NULL)) != NULL &&
                (look.curvatures = take(&b, array[2], 0, 0, scores * rows, NULL)) != NULL &&
                (look.residuals = take(&b, array[3], 0, 0, scores * rows, NULL)) != NULL &&
                (look.atoms = take(&b, array[4], 1, 0, active, NULL)) != NULL &&
                (look.owners = take(&b, array[5], 1, 0, active, NULL)) != NULL &&
                (look.coefficients = take(&b, array[6], 0, 0, active, NULL)) != NULL &&
                (look.own_ridge = take(&b, array[7], 0, 0, active, NULL)) != NULL &&
                (look.own_prices = take(&b, array[8], 0, 0, active, NULL)) != NULL &&
                (look.ridge = take(&b, array[9], 0, 0, count, NULL)) != NULL &&
                (look.prices = take(&b, array[10], 0, 0, count, NULL)) != NULL &&
                (look.usable = take_kind(&b, array[11], BYTES, 0, scores * count, NULL)) != NULL &&
                (array[12] == Py_None || (look.signs = take(&b, array[12], 0, 0, scores * count, NULL)) != NULL) &&
                (seen.products = take(&b, array[13], 0, 1, in_lanes(count) * (3 * scores + active), NULL)) != NULL &&
                (seen.additions = take(&b, array[15], 0, 1, scores * count, NULL)) != NULL &&
                (seen.steps = take(&b, array[16], 0, 1, scores * count, NULL)) != NULL &&
                (seen.best = take(&b, array[17], 0, 1, count, NULL)) != NULL &&
                (seen.swaps = take(&b, array[18], 0, 1, 3 * scores * considered, NULL)) != NULL;
    int named = taken;
    for (ptrdiff_t p = 0; named && p < count; p++) named = look.places[p] >= 0 && look.places[p] < atoms;
    for (ptrdiff_t k = 0; named && k < active; k++)
        named = look.atoms[k] >= 0 && look.atoms[k] < atoms && look.owners[k] >= 0 && look.owners[k] < scores;
    ptrdiff_t square = 0; /* numbers of all inverses */
    for (ptrdiff_t c = 0; named && c < scores; c++) {
        ptrdiff_t m = 1;
        for (ptrdiff_t k = 0; k < active; k++) m += look.owners[k] == c;
        square += m * m;
    }
    taken = named && (seen.inverses = take(&b, array[14], 0, 1, square, NULL)) != NULL;
    if (!taken) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "piece_scan: places, atoms and owners must exist");
        release(&b);
        return NULL;
    }
    int status;
    Py_BEGIN_ALLOW_THREADS status = piece_scan(&look, &seen);
    Py_END_ALLOW_THREADS return finish(&b, status, status == 0 ? Py_NewRef(Py_None) : NULL);
}

static const Field RULES[] = {
    FIELD(REAL, Rules, tol),           FIELD(REAL, Rules, kkt),           FIELD(REAL, Rules, first_damping),
    FIELD(REAL, Rules, largest_damping), FIELD(REAL, Rules, exact_below), FIELD(REAL, Rules, worth_a_retry),
    FIELD(REAL, Rules, timid),         FIELD(REAL, Rules, noise),         FIELD(INTEGER, Rules, max_iter),
    FIELD(INTEGER, Rules, max_active_sets),
};
static const Field PRICE[] = {FIELD(REAL, PenaltyParts, price)};
static const Field THREADS[] = {{"threads", INTEGER, 0}};

/* (shape, v, codes, w, θ, l1, lower, upper, price, `RULES`, threads): θ moves to the minimiser. */
static PyObject *py_minimise(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[7];
    Shape s;
    PenaltyParts penalty;
    Rules r;
    int n_threads;
    if (!has_items(args, "minimise", 11) || !read_shape(PyTuple_GetItem(args, 0), &s) ||
        !read_number(PyTuple_GetItem(args, 8), PRICE, &penalty) ||
        !read_fields(PyTuple_GetItem(args, 9), "minimise: rules", RULES, COUNT(RULES), &r) ||
        !read_number(PyTuple_GetItem(args, 10), THREADS, &n_threads))
        return NULL;
    items(args, 1, 7, array);
    Buffers b = {.count = 0};
    Rows rows;
    Ending end;
    double *theta;
    if (!take_problem(&b, array, &s, &rows, &theta, &penalty)) {
        release(&b);
        return NULL;
    }
    Interpreter python = {.released = PyEval_SaveThread()};
    const int status = minimise(&s, &rows, &penalty, &r, signalled, &python, n_threads, theta, &end);
    PyEval_RestoreThread(python.released);
    if (python.failed) {
        release(&b);
        return NULL;
    }
    return finish(&b, status,
                  status == 0 ? Py_BuildValue("dddill", end.objective, end.loss, end.residual, end.status,
                                              end.iterations, end.evaluations)
                              : NULL);
}

static const Field PACE[] = {
    FIELD(SIZE, Pace, batch), FIELD(REAL, Pace, rate),   FIELD(REAL, Pace, clip),
    FIELD(REAL, Pace, first), FIELD(REAL, Pace, second),
};
static const Field STEPS[] = {FIELD(SIZE, Moments, steps)};

/* (shape, v, codes, w, θ, l1, lower, upper, price, `PACE`, order, first, second, steps): one epoch of Adam moves θ and
   its moments; returns the steps that were taken by then. */
static PyObject *py_adam_epoch(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *array[10];
    Shape s;
    PenaltyParts penalty;
    Pace pace;
    Moments moments;
    if (!has_items(args, "adam_epoch", 14) || !read_shape(PyTuple_GetItem(args, 0), &s) ||
        !read_number(PyTuple_GetItem(args, 8), PRICE, &penalty) ||
        !read_fields(PyTuple_GetItem(args, 9), "adam_epoch: pace", PACE, COUNT(PACE), &pace) ||
        !read_number(PyTuple_GetItem(args, 13), STEPS, &moments))
        return NULL;
    items(args, 1, 7, array);
    items(args, 10, 3, array + 7);
    Buffers b = {.count = 0};
    Rows rows;
    double *theta;
    const int64_t *order;
    const ptrdiff_t all = s.scores * per_score(&s);
    if (!take_problem(&b, array, &s, &rows, &theta, &penalty) ||
        (order = take(&b, array[7], 1, 0, s.rows, NULL)) == NULL ||
        (moments.first = take(&b, array[8], 0, 1, all, NULL)) == NULL ||
        (moments.second = take(&b, array[9], 0, 1, all, NULL)) == NULL) {
        release(&b);
        return NULL;
    }
    int status = pace.batch > 0 ? 0 : -1;
    for (ptrdiff_t i = 0; i < s.rows; i++)
        if (order[i] < 0 || order[i] >= s.rows) status = -1;
    if (status != 0) {
        release(&b);
        PyErr_SetString(PyExc_ValueError, "a batch holds at least one row, and the order names rows alone");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = adam_epoch(&s, &rows, &penalty, &pace, order, &moments, theta);
    Py_END_ALLOW_THREADS return finish(&b, status, status == 0 ? PyLong_FromSsize_t(moments.steps) : NULL);
}

static PyMethodDef methods[] = {
    {"solve_active_set", py_solve_active_set, METH_VARARGS, "Move x to the minimiser; return the fall."},
    {"forward", py_forward, METH_VARARGS, "Fill the state of a block; return its loss."},
    {"derivatives", py_derivatives, METH_VARARGS,
     "Fill the gradient and, unless None, the matrix and the residual's Hessian."},
    {"sweep", py_sweep, METH_VARARGS, "Fill gradient and errors of a packed chunk unless None; return its loss."},
    {"draw", py_draw, METH_VARARGS, "Fill places and numbers of the rows that are drawn; return how many, and Σ w √e."},
    {"log_image", py_log_image, METH_VARARGS, "Fill an array with log(scale·x + offset); return the extremes of x."},
    {"places", py_places, METH_VARARGS, "Fill the places of numbers among values, with counts; return how many fit."},
    {"deviations", py_deviations, METH_VARARGS, "Return the sum of deviations and of their squares."},
    {"uniforms", py_uniforms, METH_VARARGS, "Fill an array with the numbers of consecutive rows."},
    {"positive_parts", py_positive_parts, METH_VARARGS, "Fill an array with the positive parts of symmetric matrices."},
    {"adam_epoch", py_adam_epoch, METH_VARARGS, "Move θ and its moments by an epoch of Adam; return the steps so far."},
    {"glm_fit", py_glm_fit, METH_VARARGS, "Move θ to the minimiser of a generalised linear model; return its loss."},
    {"glm_moments", py_glm_moments, METH_VARARGS, "Fill residuals and curvatures of every score and row."},
    {"standardise_pieces", py_standardise_pieces, METH_VARARGS, "Fill pieces with standardised products of parts."},
    {"piece_scan", py_piece_scan, METH_VARARGS, "Fill gains of adding pieces to a set and of exchanging them."},
    {"minimise", py_minimise, METH_VARARGS, "Move θ to a minimiser; return objective, loss, residual, status, counts."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "Compiled loops of a fit.", 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) {
    return PyModuleDef_Init(&definition);
}
