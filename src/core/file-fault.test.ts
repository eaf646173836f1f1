import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { whyUnreadable, yamlFault } from './file-fault.ts'

it.each([
  { path: '/no/such/file', says: 'it is not there' },
  { path: `${import.meta.filename}/below`, says: 'it is not there' },
  { path: import.meta.dirname, says: 'it is a folder' },
])('says why $path cannot be read', async ({ path, says }) => {
  const error: unknown = await readFile(path, 'utf8').catch((cause: unknown) => cause)
  expect(whyUnreadable(error)).toBe(says)
})

it('says what it does not know in the words it was told', () => {
  expect(whyUnreadable(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))).toBe('EIO: i/o error')
  expect(whyUnreadable('gone')).toBe('gone')
})

it('says in one line where YAML breaks', () => {
  let said = ''
  try {
    parse('a: [1\n')
  } catch (error) {
    said = yamlFault(error)
  }
  expect(said).toMatch(/at line 2, column 1$/)
})
