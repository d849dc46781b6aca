// Keys by which the server knows that something is asked for a second time.

/** A key that nobody else has. Works without a secure address, where `randomUUID` does not. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
