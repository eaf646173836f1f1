// A large JSON object read piece by piece: of its lists one element after the other. What is made of an element may be a fraction
// of what was written, and the whole is never there at once.

export interface Piece {
  readonly key: string
  /** Its place, where the member is a list. */
  readonly index?: number
  readonly value: unknown
}

/** Members of the object in the text; of lists, what `keep` made of each element. Throws a SyntaxError where it is no JSON. */
export function readPieces(text: string, keep: (piece: Piece) => unknown): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  let at = expect(text, skipSpace(text, 0), '{')
  while (text[at] !== '}') {
    const keyEnd = endOfValue(text, at)
    const key = JSON.parse(text.slice(at, keyEnd)) as string
    const start = skipSpace(text, expect(text, skipSpace(text, keyEnd), ':'))
    const end = endOfValue(text, start)
    found[key] =
      text[start] === '['
        ? readList(text, start, (value, index) => keep({ key, index, value }))
        : keep({ key, value: JSON.parse(text.slice(start, end)) })
    at = afterComma(text, end, '}')
  }
  if (skipSpace(text, at + 1) < text.length) throw new SyntaxError('there is more behind its end')
  return found
}

function readList(text: string, start: number, keep: (value: unknown, index: number) => unknown): readonly unknown[] {
  const kept: unknown[] = []
  let at = skipSpace(text, start + 1)
  while (text[at] !== ']') {
    const end = endOfValue(text, at)
    kept.push(keep(JSON.parse(text.slice(at, end)), kept.length))
    at = afterComma(text, end, ']')
  }
  return kept
}

/** The next value, or the end of what holds it. */
function afterComma(text: string, from: number, close: '}' | ']'): number {
  const at = skipSpace(text, from)
  if (text[at] === close) return at
  const next = skipSpace(text, expect(text, at, ','))
  if (text[next] === close) throw new SyntaxError(`a comma before the end at ${next}`)
  return next
}

function expect(text: string, at: number, what: string): number {
  if (text[at] !== what) throw new SyntaxError(`${what} expected at ${at}`)
  return skipSpace(text, at + 1)
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return at
}

const code = { quote: 0x22, comma: 0x2c, openList: 0x5b, backslash: 0x5c, closeList: 0x5d, open: 0x7b, close: 0x7d }

/** Just behind the value that begins here; whether it is a proper one is for the parser to say. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === code.quote) {
      at = closingQuote(text, at)
      if (depth === 0) return at + 1
    } else if (char === code.open || char === code.openList) depth++
    else if (char === code.close || char === code.closeList) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && char === code.comma) return at
  }
  throw new SyntaxError('it ends in the middle')
}

function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === code.backslash) escapes++
    if (escapes % 2 === 0) return at
  }
  throw new SyntaxError('a text without an end')
}
