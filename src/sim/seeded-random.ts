import type { Random } from '../ports/random.ts'

const hexDigits = '0123456789abcdef'

/**
 * Chance from a seed (sfc32). Each part of a simulation takes its own `fork`, so that what one part draws never shifts
 * what another one gets: one seed decides everything, whatever the interleaving.
 */
export class SeededRandom implements Random {
  readonly #label: string
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number | string) {
    this.#label = String(seed)
    const [a, b, c] = hash(this.#label)
    this.#a = a
    this.#b = b
    this.#c = c
    for (let i = 0; i < 12; i++) this.#word()
  }

  fork(label: string): SeededRandom {
    return new SeededRandom(`${this.#label}/${label}`)
  }

  next(): number {
    return (this.#word() >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** A number in [min, max). */
  between(min: number, max: number): number {
    return min + this.next() * (max - min)
  }

  /** A whole number in [min, max]. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  pick<T>(list: readonly [T, ...T[]]): T
  pick<T>(list: readonly T[]): T | undefined
  pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.next() * list.length)]
  }

  uuid(): string {
    const a = hex(this.#word())
    const b = hex(this.#word())
    const c = hex(this.#word())
    const d = hex(this.#word())
    const variant = hexDigits[8 + (c.charCodeAt(0) & 3)]
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum
  }
}

/** By halves: small integers become text much faster. */
function hex(word: number): string {
  return half(word >>> 16) + half(word & 0xffff)
}

function half(bits: number): string {
  return (0x1_0000 + bits).toString(16).slice(1)
}

function hash(text: string): [number, number, number] {
  let a = 1_779_033_703
  let b = 3_144_134_277
  let c = 1_013_904_242
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 597_399_067)
    a = b ^ ((a << 13) | (a >>> 19))
    b = Math.imul(b ^ code, 2_869_860_233)
    b = c ^ ((b << 15) | (b >>> 17))
    c = Math.imul(c ^ code, 951_274_213)
    c = a ^ ((c << 17) | (c >>> 15))
  }
  return [a | 0, b | 0, c | 0]
}
