// Names inside a sentence of the catalogue: pods, nodes, budgets, paths. They are set apart by type, never read as markup.

export interface Piece {
  readonly kind: 'word' | 'name'
  readonly text: string
}

/** `shop/checkout`, `w-1b-031`, `checkout-7f9c4-x2x8p`, `/var/lib/kubelet`, `v1.36.3`. */
const name =
  /(?<![\w./-])(?:\/[\w.-]+(?:\/[\w.-]+)+|\/(?:var|etc|boot|tmp|usr|opt|srv|run)\b|[a-z][a-z0-9.-]*\/[a-z0-9][a-z0-9.-]*[a-z0-9]|v\d+\.\d+\.\d+(?:[-+][\w.]+)?|[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?=[a-z0-9]*\d)[a-z0-9]+)(?![\w/])/g

const alternatives = new Set(['and/or', 'i/o', 'n/a', 'his/her'])

export function reasonPieces(message: string): readonly Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const { 0: found, index } of message.matchAll(name)) {
    if (alternatives.has(found)) continue
    if (index > from) pieces.push({ kind: 'word', text: message.slice(from, index) })
    pieces.push({ kind: 'name', text: found })
    from = index + found.length
  }
  if (from < message.length) pieces.push({ kind: 'word', text: message.slice(from) })
  return pieces
}
