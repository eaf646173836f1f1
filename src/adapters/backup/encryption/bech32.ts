// Bech32 (BIP 173, without its limit of length), in which age writes its keys.

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const checksumDigits = 6
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]

/** The bytes of a text with that prefix, in the letters of one case; undefined for anything else. */
export function bytesOfBech32(text: string, prefix: string): Buffer | undefined {
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) return undefined
  if (!lower.startsWith(`${prefix}1`)) return undefined
  const digits = [...lower.slice(prefix.length + 1)].map((letter) => alphabet.indexOf(letter))
  if (digits.length < checksumDigits || digits.includes(-1)) return undefined
  if (checksum([...expanded(prefix), ...digits]) !== 1) return undefined
  return bytesOf(digits.slice(0, -checksumDigits))
}

export function bech32Of(bytes: Uint8Array, prefix: string): string {
  const digits = digitsOf(bytes)
  const sum = checksum([...expanded(prefix), ...digits, ...Array<number>(checksumDigits).fill(0)]) ^ 1
  const last = Array.from({ length: checksumDigits }, (_, index) => (sum >> (5 * (checksumDigits - 1 - index))) & 31)
  return `${prefix}1${[...digits, ...last].map((digit) => alphabet[digit]).join('')}`
}

function checksum(digits: readonly number[]): number {
  return digits.reduce((sum, digit) => {
    const top = sum >>> 25
    const next = ((sum & 0x1ffffff) << 5) ^ digit
    return generators.reduce((mixed, generator, bit) => ((top >>> bit) & 1 ? mixed ^ generator : mixed), next)
  }, 1)
}

function expanded(prefix: string): readonly number[] {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0))
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

function digitsOf(bytes: Uint8Array): readonly number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => Number.parseInt(five.padEnd(5, '0'), 2))
}

function bytesOf(digits: readonly number[]): Buffer | undefined {
  const bits = digits.map((digit) => digit.toString(2).padStart(5, '0')).join('')
  const whole = bits.length - (bits.length % 8)
  const rest = bits.slice(whole)
  if (rest.length >= 5 || rest.includes('1')) return undefined
  return Buffer.from((bits.slice(0, whole).match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
}
