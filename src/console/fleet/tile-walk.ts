// Arrows between tiles: left and right by order, up and down by what lies there.

export function nextTile(from: HTMLElement, key: string): HTMLElement | undefined {
  if (from.dataset.node === undefined) return undefined
  const tiles = [...document.querySelectorAll<HTMLElement>('[data-node]')]
  const at = tiles.indexOf(from)
  switch (key) {
    case 'ArrowRight':
      return tiles[at + 1]
    case 'ArrowLeft':
      return tiles[at - 1]
    case 'Home':
      return tiles[0]
    case 'End':
      return tiles.at(-1)
    case 'ArrowDown':
      return nearest(from, tiles, 1)
    case 'ArrowUp':
      return nearest(from, tiles, -1)
    default:
      return undefined
  }
}

/** The nearest row that way, and in it what overlaps from left to right. */
function nearest(from: HTMLElement, tiles: readonly HTMLElement[], way: 1 | -1): HTMLElement | undefined {
  const here = from.getBoundingClientRect()
  let best: { readonly tile: HTMLElement; readonly distance: number } | undefined
  for (const tile of tiles) {
    const there = tile.getBoundingClientRect()
    const distance = (there.top - here.top) * way
    const overlaps = there.left < here.right && there.right > here.left
    if (overlaps && distance > 4 && (best === undefined || distance < best.distance)) best = { tile, distance }
  }
  return best?.tile
}
