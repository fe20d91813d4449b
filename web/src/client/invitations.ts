/** Who may join, and the viewer's invitation links. */
import { send } from "./http";
import type { Author, Schemas } from "./types";

export type Invitation = Schemas["InvitationView"];
export type Registration = Schemas["RegistrationView"]["registration"];

const id = encodeURIComponent;

export const getRegistration = async (): Promise<Registration> =>
  (await send<Schemas["RegistrationView"]>("GET", "/registration")).registration;
/** Who made the link; rejects with 404 when nobody can join by it any more. */
export const getInviter = async (code: string): Promise<Author> =>
  (await send<Schemas["InviterView"]>("GET", `/invitations/by-code/${id(code)}`)).inviter;

export const listInvitations = async (): Promise<readonly Invitation[]> =>
  (await send<Schemas["InvitationsView"]>("GET", "/invitations")).invitations;
export const createInvitation = (maxUses: number, days: number) =>
  send<Invitation>("POST", "/invitations", { json: { max_uses: maxUses, days } });
export const revokeInvitation = (invitationId: string) =>
  send<null>("DELETE", `/invitations/${id(invitationId)}`);
