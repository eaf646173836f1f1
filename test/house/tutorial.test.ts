import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tutorialBlocks } from '../e2e/tutorial.ts'
import { repository } from './planted-tree.ts'

describe('docs/tutorial.md', () => {
  const text = readFileSync(join(repository, 'docs/tutorial.md'), 'utf8')

  test('each block is run by a test, or says why not', () => {
    const plain = [...text.matchAll(/^(.*)\n```\n/gm)].map(([, before]) => before).filter((before) => before !== '')
    const opened = text.match(/^```.+$/gm) ?? []
    expect(new Set(opened)).toEqual(new Set(['```sh']))
    // Of a closing fence the line before is a command; of an opening one that is not run, its excuse.
    const excused = plain.filter((before) => before?.startsWith('<!-- the test '))
    const fences = text.match(/^```$/gm)?.length ?? 0
    expect(fences).toBe(opened.length + 2 * excused.length)
  })

  test('its commands are found by their sections', () => {
    const sections = tutorialBlocks().map(({ section }) => section)
    expect(new Set(sections)).toEqual(
      new Set(['An upgrade without a cluster', 'A cluster to try it on', 'Install', 'Look before', 'Upgrade', 'Go on']),
    )
  })
})
