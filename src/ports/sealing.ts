export interface KeyPair {
  /** Base64; what is published. */
  readonly publicKey: string
  /** Base64; never leaves the host. */
  readonly privateKey: string
}

/**
 * Secrets for one host: sealed to its public key, so that only it can read them. `context` names what is sealed; it is not in
 * the text, and opening with another one fails, so that nothing sealed can be passed off as something else.
 */
export interface Sealing {
  newKeys(): KeyPair
  seal(plain: string, publicKey: string, context: string): string
  /** Throws SecretUnreadable: sealed to another key, for another context, or changed. */
  open(sealed: string, privateKey: string, context: string): string
}
