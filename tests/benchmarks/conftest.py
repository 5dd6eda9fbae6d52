import pytest
from sklearn.datasets import load_iris


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A data folder that holds iris alone."""
    path = tmp_path_factory.mktemp("data")
    iris = load_iris(as_frame=True)
    frame = iris.data.assign(species=iris.target_names[iris.target])
    frame.to_csv(path / "iris.csv.gz", index=False)
    return path
