"""How the accounts room says no."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound


class AccountNotFound(NotFound):
    """There is no such account, or you may not see it."""

    code = "account_not_found"


class UsernameTaken(Conflict):
    """That username is taken; choose another."""

    code = "username_taken"


class UsernameRefused(Invalid):
    """A username has 1 to 30 letters (a to z), digits, underscores or single dots, with no dot at either end."""

    code = "username_refused"


class PasswordRefused(Invalid):
    """A password needs 8 to 256 characters."""

    code = "password_refused"


class CredentialsWrong(Forbidden):
    """That username and password do not belong together."""

    code = "credentials_wrong"
