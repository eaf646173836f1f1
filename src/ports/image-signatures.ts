/** Checks what a key pair signed; the mathematics only, not what the signed text means. */
export interface ImageSignatures {
  /** Whether the text is a PEM public key we can check with. */
  isPublicKey(key: string): boolean
  /** `signature` is base64. False for anything that does not fit, the key included. */
  verify(key: string, signed: string | Uint8Array, signature: string): boolean
}
