// One node as a cell of 8 px: the mark inside repeats what the colour says.

import type { TilePhase } from '../../api/console.ts'
import { type Family, families, phaseLook } from '../parts/phase-look.ts'

export const cellPx = 8
const side = cellPx - 1.5

export interface FamilyInk {
  readonly fill: string
  readonly text: string
  readonly on: string
}

export type Inks = Readonly<Record<Family, FamilyInk>>

/** The tokens as the browser resolved them: canvas knows no variables. */
export function resolvedInks(): Inks {
  const probe = document.createElement('i')
  document.body.append(probe)
  const resolved = (token: string) => {
    probe.style.color = `var(--${token})`
    return getComputedStyle(probe).color
  }
  const inks = Object.fromEntries(
    families.map((family) => [
      family,
      { fill: resolved(family), text: resolved(`${family}-text`), on: resolved(`${family}-on`) },
    ]),
  ) as Inks
  probe.remove()
  return inks
}

type Four = readonly [number, number, number, number]

interface Mark {
  /** The whole cell in the family's fill, its edge in the family's text, or neither. */
  readonly ground: 'fill' | 'faint' | 'edge' | 'none'
  /** x, y, width, height. */
  readonly block?: Four
  /** From x, y to x, y. */
  readonly lines?: readonly Four[]
}

const marks: Readonly<Record<TilePhase, Mark>> = {
  Done: { ground: 'faint' },
  Pending: { ground: 'none', block: [2, 2, 2.5, 2.5] },
  Idle: { ground: 'none', block: [1, 2.5, 4.5, 1.5] },
  Skipped: { ground: 'none', lines: [[0.5, 6, 6, 0.5]] },
  Staging: { ground: 'none', block: [0, 4.2, side, 2.3] },
  Failed: {
    ground: 'fill',
    lines: [
      [1.5, 1.5, 5, 5],
      [5, 1.5, 1.5, 5],
    ],
  },
  Draining: { ground: 'fill', lines: [[1.2, 3.2, 5.2, 3.2]] },
  Verifying: { ground: 'fill', lines: [[3.2, 1.2, 3.2, 5.2]] },
  Working: { ground: 'fill', block: [2.3, 2.3, 2, 2] },
  Assigned: { ground: 'edge', block: [2.3, 2.3, 2, 2] },
  Cordoned: { ground: 'edge', block: [0, 0, side, 3] },
  RequiresAttention: { ground: 'edge', block: [2.5, 0, 1.5, side] },
  NotReady: { ground: 'edge', block: [0, 3.5, side, 3] },
}

export interface CellPlace {
  readonly x: number
  readonly y: number
}

export function drawCell(pen: CanvasRenderingContext2D, { x, y }: CellPlace, tile: Drawable, inks: Inks): void {
  const { family, fill } = phaseLook(tile.phase)
  const { ground, block, lines = [] } = marks[tile.phase]
  const ink = inks[family]
  pen.clearRect(x, y, cellPx, cellPx)
  pen.globalAlpha = (tile.dim ? 0.12 : 1) * (ground === 'faint' ? 0.75 : 1)
  pen.lineWidth = 1
  pen.fillStyle = ink.fill
  pen.strokeStyle = ink.text
  if (ground === 'fill' || ground === 'faint') pen.fillRect(x, y, side, side)
  if (ground === 'edge') pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1)
  pen.fillStyle = ground === 'fill' ? ink.on : fill === 'plain' || fill === 'tint' ? ink.fill : ink.text
  pen.strokeStyle = pen.fillStyle
  if (block) pen.fillRect(x + block[0], y + block[1], block[2], block[3])
  if (lines.length === 0) return
  pen.beginPath()
  for (const [fromX, fromY, toX, toY] of lines) {
    pen.moveTo(x + fromX, y + fromY)
    pen.lineTo(x + toX, y + toY)
  }
  pen.stroke()
}

export interface Drawable {
  readonly phase: TilePhase
  readonly dim: boolean
}
