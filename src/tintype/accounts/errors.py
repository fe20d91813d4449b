"""Errors of the accounts room."""

from typing import Literal

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound

Method = Literal["totp", "recovery_code", "passkey"]


class AccountNotFound(NotFound):
    """There is no such account, or you may not see it."""

    code = "account_not_found"


class RegistrationClosed(Forbidden):
    """Nobody can join here: the site takes no new accounts."""

    code = "registration_closed"


class InvitationNeeded(Forbidden):
    """Joining needs an invitation here; ask a member for a link."""

    code = "invitation_needed"


class InvitationNotFound(NotFound):
    """That invitation was used up, has expired or was revoked; ask for another link."""

    code = "invitation_not_found"


class TooManyInvitations(Conflict):
    """You have as many invitation links as are allowed; revoke one first."""

    code = "too_many_invitations"


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
    """That is not allowed in a profile."""

    code = "profile_refused"


class EmailRefused(Invalid):
    """That is not a valid email address."""

    code = "email_refused"


class PhoneRefused(Invalid):
    """A phone number begins with + and its country code."""

    code = "phone_refused"


class PhoneTaken(Conflict):
    """That phone number belongs to another account."""

    code = "phone_taken"


class CredentialsWrong(Forbidden):
    """The username or the password is wrong."""

    code = "credentials_wrong"


class ProofWrong(Forbidden):
    """That password or code is wrong."""

    code = "proof_wrong"


class ProofNeeded(Forbidden):
    """Please confirm again that it is you, with your password, a code or a passkey."""

    code = "proof_needed"


class FactorNeeded(Forbidden):
    """Please confirm that it is you, with a code of your authenticator app, a recovery code or a passkey."""

    code = "factor_needed"


class SecondFactorRequired(Forbidden):
    """The password is right; now enter a code or use your passkey."""

    code = "second_factor_required"

    def __init__(self, ticket: str, methods: tuple[Method, ...]) -> None:
        super().__init__()
        self.ticket, self.methods = ticket, methods


class TicketWrong(Forbidden):
    """Your sign-in took too long or was finished already; start again."""

    code = "ticket_wrong"


class AccountSuspended(Forbidden):
    """Your account is suspended. You can appeal against the decision, and export your data."""

    code = "account_suspended"


class AccountGone(Conflict):
    """That account is being erased for good: its status can no longer be changed."""

    code = "account_gone"


class AccountLeaving(Forbidden):
    """Your account is being deleted."""

    code = "account_leaving"


class LinkWrong(Invalid):
    """That link was used already or has expired; request a new one."""

    code = "link_wrong"


class ScopeMissing(Forbidden):
    """The token does not have the scope that this needs."""

    code = "scope_missing"


class SessionNotFound(NotFound):
    """That session does not exist or has ended."""

    code = "session_not_found"


class TokenRefused(Invalid):
    """A token needs a name of 1 to 100 characters, at least one known scope, and a lifetime of 1 to 366 days."""

    code = "token_refused"


class TotpOn(Conflict):
    """An authenticator app is set up already; remove it first."""

    code = "totp_on"


class TotpOff(Conflict):
    """No authenticator app is set up."""

    code = "totp_off"


class PasskeyRefused(Invalid):
    """That passkey could not be verified."""

    code = "passkey_refused"


class PasskeyNotFound(NotFound):
    """That passkey does not exist."""

    code = "passkey_not_found"


class TooManyPasskeys(Conflict):
    """You have 20 passkeys already; remove one first."""

    code = "too_many_passkeys"


class TooManyTokens(Conflict):
    """You have 50 API tokens already; revoke one first."""

    code = "too_many_tokens"
