"""How explore says no."""

from tintype.base.errors import Conflict, Invalid, Unavailable


class ModelVersionMismatch(Conflict):
    """Those vectors were made by another version of the model than the index."""

    code = "model_version_mismatch"


class NothingPublished(Unavailable):
    """No model has been published here yet."""

    code = "model_not_published"


class TrainingDataInvalid(Invalid):
    """The training data has numbers that are not finite, or refers to people or items that are not in it."""

    code = "training_data_invalid"


class TrainingDiverged(Invalid):
    """Training produced numbers that are not finite; the last good version stays in use."""

    code = "training_diverged"


class VectorsInvalid(Invalid):
    """Those vectors are not finite, or not as long as the index needs them."""

    code = "vectors_invalid"
