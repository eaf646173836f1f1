import { expect, test } from 'vitest'
import type { PolicyView } from '../../api/console.ts'
import { instantText } from '../parts/instant.ts'
import { windowText } from './standing-facts.tsx'

const now = Date.parse('2026-12-22T10:00:00Z')
const until = '2026-12-22T12:14:00Z'
const then = instantText(Date.parse(until), now)

test.each<[PolicyView['window'], string]>([
  [{ open: true, always: true }, 'Window: always open'],
  [{ open: true, always: true, until }, 'Window: always open'],
  [{ open: false, always: true, until }, `Frozen until ${then}`],
  [{ open: false, always: true }, 'Window: none opens'],
  [{ open: true, always: false }, 'Window: open'],
  [{ open: true, always: false, until }, 'Window: 2 h 14 m left'],
  [{ open: false, always: false, until }, `Opens ${then}`],
  [{ open: false, always: false }, 'Window: none opens'],
])('%j is told as %s', (window, text) => {
  expect(windowText(window, now)).toBe(text)
})
