// Makes keys by which the server recognises a repeated request.

/** A unique key. It works without a secure address, where `randomUUID` does not exist. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
