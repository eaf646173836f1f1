import { expect, it } from 'vitest'
import { parseDpkgStatus } from './dpkg-status.ts'

it('reads what is installed, held, half-installed or gone', () => {
  const text = [
    'kubelet\t1.35.4-1.1\tamd64\thold\tok\tinstalled',
    'half\t1.0\tall\tinstall\treinstreq\thalf-installed',
    'unpacked\t1.0\tall\tinstall\tok\tunpacked',
    'waiting\t1.0\tall\tinstall\tok\ttriggers-pending',
    'removed\t1.0\tall\tdeinstall\tok\tconfig-files',
    'never\t\t\tunknown\tok\tnot-installed',
    'libc6\t2.36-9\tamd64\tinstall\tok\tinstalled',
    'libc6\t2.36-8\ti386\tinstall\tok\tinstalled',
    '',
  ].join('\n')
  const status = parseDpkgStatus(text, 'amd64')
  expect([...status.keys()]).toEqual(['kubelet', 'half', 'unpacked', 'waiting', 'libc6', 'libc6:i386'])
  expect(status.get('kubelet')).toMatchObject({ version: '1.35.4-1.1', held: true, whole: true })
  expect(status.get('half')).toMatchObject({ whole: false, configurable: false })
  expect(status.get('unpacked')).toMatchObject({ whole: false, configurable: true })
  expect(status.get('waiting')).toMatchObject({ whole: false, configurable: true })
  expect(status.get('libc6')?.version).toBe('2.36-9')
})
