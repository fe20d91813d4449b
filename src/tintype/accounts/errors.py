"""How the accounts room says no."""

from typing import Literal

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound

Method = Literal["totp", "recovery_code", "passkey"]


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


class PasswordCommon(PasswordRefused):
    """Too many people use that password, or it is too close to your name; choose one that is harder to guess."""

    code = "password_common"


class ProfileRefused(Invalid):
    """A profile cannot hold that."""

    code = "profile_refused"


class EmailRefused(Invalid):
    """That is not an email address we can write to."""

    code = "email_refused"


class PhoneRefused(Invalid):
    """A phone number begins with + and the code of its country."""

    code = "phone_refused"


class PhoneTaken(Conflict):
    """That phone number belongs to another account."""

    code = "phone_taken"


class CredentialsWrong(Forbidden):
    """That username and password do not belong together."""

    code = "credentials_wrong"


class ProofWrong(Forbidden):
    """That password or code is not the right one."""

    code = "proof_wrong"


class ProofNeeded(Forbidden):
    """Prove once more who you are: this needs a proof of the last minutes."""

    code = "proof_needed"


class SecondFactorRequired(Forbidden):
    """The password is right; now a second proof is needed."""

    code = "second_factor_required"

    def __init__(self, ticket: str, methods: tuple[Method, ...]) -> None:
        super().__init__()
        self.ticket, self.methods = ticket, methods


class TicketWrong(Forbidden):
    """That took too long, or was done already; start again."""

    code = "ticket_wrong"


class AccountSuspended(Forbidden):
    """The account is suspended."""

    code = "account_suspended"


class AccountLeaving(Forbidden):
    """The account is being deleted."""

    code = "account_leaving"


class LinkWrong(Invalid):
    """That link was used already, or is too old; ask for a new one."""

    code = "link_wrong"


class ScopeMissing(Forbidden):
    """A token may do only what its scopes name, and this is not among them."""

    code = "scope_missing"


class SessionNotFound(NotFound):
    """There is no such session."""

    code = "session_not_found"


class TokenRefused(Invalid):
    """A token needs a name of 1 to 100 characters, known scopes, and 1 to 366 days to live."""

    code = "token_refused"


class TotpOn(Conflict):
    """An authenticator app is set up already; remove it first."""

    code = "totp_on"


class TotpOff(Conflict):
    """No authenticator app is set up."""

    code = "totp_off"


class PasskeyRefused(Invalid):
    """That passkey did not answer as it should."""

    code = "passkey_refused"


class PasskeyNotFound(NotFound):
    """There is no such passkey."""

    code = "passkey_not_found"
