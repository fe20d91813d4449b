/**
 * Several accounts in this browser. Switching loads the app anew, so that nothing of one account stays in memory for another;
 * what is cached on the device has an owner and goes with them.
 */
import { type DeviceAccount, deviceAccounts } from "../../client/deviceAccounts";
import { attempt } from "../../ui/attempt";

export class AccountSwitcher {
  accounts = $state.raw<readonly DeviceAccount[]>([]);
  readonly #go: (to: string) => void;

  constructor(go: (to: string) => void = (to) => location.assign(to)) {
    this.#go = go;
  }

  /** Loads the accounts; without them there is simply nothing to switch to. */
  async load(): Promise<void> {
    this.accounts = await deviceAccounts.list().catch(() => []);
  }

  /** Sets the present account aside and goes to the login. */
  async add(): Promise<void> {
    await attempt(async () => {
      await deviceAccounts.setAside();
      this.#go("/login");
    });
  }

  async switchTo({ account_id, is_current }: DeviceAccount): Promise<void> {
    if (is_current) return;
    await attempt(async () => {
      await deviceAccounts.switchTo(account_id);
      this.#go("/");
    });
  }

  /** Logs out of an account that was set aside. */
  async remove({ account_id }: DeviceAccount): Promise<void> {
    await attempt(async () => {
      await deviceAccounts.remove(account_id);
      this.accounts = this.accounts.filter((each) => each.account_id !== account_id);
    });
  }
}
