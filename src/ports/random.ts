/** Chance as an argument: real in production, seeded in the simulator. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A fresh identifier, unguessable enough for names and tokens of orders (RFC 4122 shape). */
  uuid(): string
}
