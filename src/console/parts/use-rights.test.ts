import { expect, test } from 'vitest'
import type { Rights } from '../../api/console.ts'
import type { Link } from '../live/live-state.ts'
import { hindranceOf } from './use-rights.ts'

const trouble = { since: '2026-01-05T10:00:00Z', message: 'gone', nextStep: 'wait' }
const away = { ...trouble, answers: false }
const mute = { ...trouble, answers: true }
const allowed = { allowed: true }
const denied = { allowed: false, missing: 'patch nodes' }

test.each<[Link, typeof away | undefined, Rights['actions'][keyof Rights['actions']] | undefined, string | undefined]>([
  ['live', undefined, allowed, undefined],
  ['live', undefined, undefined, undefined],
  ['live', undefined, denied, 'needs the right patch nodes'],
  ['lost', undefined, allowed, 'not connected: nothing can be asked for'],
  ['live', away, allowed, 'the API server cannot be reached: nothing can be asked for'],
  ['live', mute, allowed, undefined],
  ['live', mute, denied, 'needs the right patch nodes'],
])('%s, in trouble %j, with the right %j: %s', (link, is, right, hindrance) => {
  expect(hindranceOf('hold', { link, trouble: is }, right)).toBe(hindrance)
})
