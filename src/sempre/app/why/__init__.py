"""Why a slot or an execution is as it is: the questions, and the records that answer them."""

__all__: list[str] = []
