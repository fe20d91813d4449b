import { expect, test, vi } from "vitest";
import { Problem } from "../../src/client";
import { reauthentication } from "../../src/rooms/accounts/reauthentication.svelte";
import { Cancelled } from "../../src/ui/forms/submission.svelte";

const refusal = (code: string) => new Problem({ status: 403, code });

test.each([
  ["proof_needed", false],
  ["factor_needed", true],
])("after %s the work runs again once the proof was given", async (code, isFactorNeeded) => {
  const work = vi.fn().mockRejectedValueOnce(refusal(code)).mockResolvedValueOnce("done");
  const outcome = reauthentication.guard(work);
  await vi.waitFor(() => expect(reauthentication.pending).not.toBeNull());

  expect(reauthentication.pending?.isFactorNeeded).toBe(isFactorNeeded);
  reauthentication.complete();

  expect(await outcome).toBe("done");
  expect(reauthentication.pending).toBeNull();
});

test("whoever cancels gets nothing done", async () => {
  const outcome = reauthentication.guard(() => Promise.reject(refusal("factor_needed")));
  await vi.waitFor(() => expect(reauthentication.pending).not.toBeNull());
  reauthentication.cancel();

  await expect(outcome).rejects.toBeInstanceOf(Cancelled);
});

test("other errors are not about proofs", async () => {
  await expect(reauthentication.guard(() => Promise.reject(refusal("own_case")))).rejects.toMatchObject({
    code: "own_case",
  });
  expect(reauthentication.pending).toBeNull();
});
