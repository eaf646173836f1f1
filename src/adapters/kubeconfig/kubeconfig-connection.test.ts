import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { inClusterConnection } from './in-cluster-connection.ts'
import { kubeconfigConnection } from './kubeconfig-connection.ts'
import { kubeconfigPaths } from './kubeconfig-files.ts'

const { signal } = new AbortController()
const clock = new ManualClock()
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-kubeconfig-'))
})
afterEach(() => rm(folder, { recursive: true }))

const whole = (user: object, cluster: object = {}) => ({
  'current-context': 'here',
  clusters: [{ name: 'c', cluster: { server: 'https://one.example:6443', ...cluster } }],
  users: [{ name: 'u', user }],
  contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'mine' } }],
})

async function file(name: string, content: object | string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const load = (paths: readonly string[], context?: string) =>
  kubeconfigConnection({ paths, context, env: { PATH: '/bin:/usr/bin' }, clock })

describe('kubeconfigConnection', () => {
  test('of several files the first to say something wins; paths are relative to the file that says them', async () => {
    await file('ca.pem', 'AUTHORITY')
    const first = await file('first', {
      'current-context': 'there',
      contexts: [{ name: 'there', context: { cluster: 'c', user: 'u' } }],
    })
    const second = await file(
      'second',
      whole({ token: 'tok' }, { 'certificate-authority': 'ca.pem', 'tls-server-name': 'api' }),
    )
    const connection = await load([join(folder, 'none'), first, second])
    expect(connection).toMatchObject({ server: 'https://one.example:6443', tlsServerName: 'api' })
    expect(await connection.authority?.current(signal)).toBe('AUTHORITY')
    expect(connection.namespace).toBeUndefined()
    expect(await connection.credentials.current(signal)).toEqual({ authorization: 'Bearer tok' })
    expect((await load([first, second], 'here')).namespace).toBe('mine')
  })

  test.each([
    { user: { username: 'a', password: 'b' }, shown: { authorization: 'Basic YTpi' } },
    {
      user: { 'client-certificate-data': 'Q0VSVA==', 'client-key-data': 'S0VZ' },
      shown: { certificate: { certificate: 'CERT', key: 'KEY' } },
    },
    { user: {}, shown: {} },
  ])('shows $shown', async ({ user, shown }) => {
    const { credentials } = await load([await file('k', whole(user))])
    expect(await credentials.current(signal)).toEqual(shown)
  })

  test('a token file is read again after a minute, at once when refused, and kept while it cannot be read', async () => {
    const token = await file('token', 'one\n')
    const { credentials } = await load([await file('k', whole({ tokenFile: 'token' }))])
    const shown = async () => (await credentials.current(signal)).authorization
    await writeFile(token, 'two')
    expect(await shown()).toBe('Bearer one')
    await clock.advance(61_000)
    expect(await shown()).toBe('Bearer two')
    await writeFile(token, 'three')
    credentials.refused()
    expect(await shown()).toBe('Bearer three')
    await rm(token)
    await clock.advance(61_000)
    expect(await shown()).toBe('Bearer three')
  })

  test('authority and certificate are read again, from their files and from the kubeconfig itself', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const held = (authority: string, pair: string, more: object = {}) =>
      whole(
        { 'client-certificate-data': base64(pair), 'client-key-data': base64(pair) },
        { 'certificate-authority-data': base64(authority), ...more },
      )
    const path = await file('k', held('A1', 'P1'))
    const { authority, credentials } = await load([path])
    const shown = async () => [
      await authority?.current(signal),
      (await credentials.current(signal)).certificate?.certificate,
    ]
    await file('k', held('A2', 'P2'))
    expect(await shown()).toEqual(['A1', 'P1'])
    authority?.refused()
    expect(await shown()).toEqual(['A2', 'P1'])
    credentials.refused()
    expect(await shown()).toEqual(['A2', 'P2'])
    for (const unfit of [held('A3', 'P3', { server: 'https://two.example' }), 'a: [']) {
      await file('k', unfit)
      await clock.advance(61_000)
      expect(await shown()).toEqual(['A2', 'P2'])
    }
    await file('ca.pem', 'A4')
    await file('pair.pem', 'P4')
    const user = { 'client-certificate': 'pair.pem', 'client-key': 'pair.pem' }
    await file('k', whole(user, { 'certificate-authority': 'ca.pem' }))
    await clock.advance(61_000)
    expect(await shown()).toEqual(['A4', 'P4'])
    await file('ca.pem', '\n')
    await file('pair.pem', 'P5')
    await clock.advance(61_000)
    expect(await shown()).toEqual(['A4', 'P5'])
  })

  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', interactiveMode: 'Never' }
  test.each([
    { what: 'no file', content: undefined, code: 'KubeconfigMissing', says: 'there is no kubeconfig at' },
    { what: 'not YAML', content: 'a: [', code: 'KubeconfigBroken', says: 'is not YAML' },
    { what: 'no current context', content: {}, code: 'KubeconfigBroken', says: 'no current-context is set' },
    {
      what: 'an unknown context',
      content: { ...whole({}), 'current-context': 'x' },
      code: 'KubeconfigBroken',
      says: '"x" is not among the contexts: there are here',
    },
    {
      what: 'no server',
      content: whole({}, { server: 'one' }),
      code: 'KubeconfigBroken',
      says: 'clusters "c": server: must be an http or https address',
    },
    {
      what: 'a key without its certificate',
      content: whole({ 'client-key-data': 'S0VZ' }),
      code: 'KubeconfigBroken',
      says: 'key without its certificate',
    },
    { what: 'a missing file', content: whole({ tokenFile: 'gone' }), code: 'KubeconfigBroken', says: 'gone' },
    {
      what: 'a missing authority',
      content: whole({}, { 'certificate-authority': 'gone' }),
      code: 'KubeconfigBroken',
      says: 'certificate-authority gone',
    },
    {
      what: 'an empty authority',
      content: whole({}, { 'certificate-authority-data': 'Cg==' }),
      code: 'KubeconfigBroken',
      says: 'certificate-authority is empty',
    },
    { what: 'impersonation', content: whole({ as: 'root' }), code: 'KubeconfigBroken', says: 'impersonation' },
    {
      what: 'a plug-in that asks',
      content: whole({ exec: { ...exec, interactiveMode: 'Always' } }),
      code: 'KubeconfigBroken',
      says: 'asks questions',
    },
    {
      what: 'an old plug-in',
      content: whole({ exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } }),
      code: 'KubeconfigBroken',
      says: 'exec.apiVersion',
    },
    {
      what: 'a socks proxy',
      content: whole({}, { 'proxy-url': 'socks5://x' }),
      code: 'KubeconfigBroken',
      says: 'proxy-url',
    },
  ])('$what: one sentence and the next step', async ({ content, code, says }) => {
    const path = content === undefined ? join(folder, 'none') : await file('k', content)
    const loading = load([path])
    await expect(loading).rejects.toMatchObject({
      code,
      message: expect.stringContaining(says),
      nextStep: expect.any(String),
    })
    await expect(loading).rejects.toMatchObject({ message: expect.not.stringContaining('\n') })
  })

  test('a folder instead of a file, and a context that is not there, each say what to do', async () => {
    await expect(load([folder])).rejects.toMatchObject({
      message: `kubeconfig ${folder}: it cannot be read: it is a folder`,
      nextStep: 'pass --kubeconfig FILE or set KUBECONFIG',
    })
    await expect(load([await file('k', { ...whole({}), 'current-context': 'x' })])).rejects.toMatchObject({
      nextStep: 'pass --context NAME with one that is there',
    })
  })

  test.each([
    { script: 'echo "please log in" >&2; exit 3', says: 'failed with 3: please log in' },
    { script: 'echo hello', says: 'did not print JSON' },
    { script: 'echo "{}"', says: 'did not print an ExecCredential' },
  ])('a plug-in that fails is named with what it said: $says', async ({ script, says }) => {
    const { credentials } = await load([await file('k', whole({ exec: { ...exec, args: ['-c', script] } }))])
    await expect(credentials.current(signal)).rejects.toMatchObject({
      code: 'KubeconfigBroken',
      message: expect.stringContaining(says),
    })
  })

  test('a plug-in that is not installed is answered with its hint', async () => {
    const user = { exec: { ...exec, command: 'no-such-plugin', installHint: 'get it from example.org' } }
    const { credentials } = await load([await file('k', whole(user))])
    await expect(credentials.current(signal)).rejects.toMatchObject({ nextStep: 'get it from example.org' })
  })
})

test.each([
  { flag: 'f', env: { KUBECONFIG: 'a:b', HOME: '/h' }, paths: ['f'] },
  { flag: undefined, env: { KUBECONFIG: 'a::b:a', HOME: '/h' }, paths: ['a', 'b'] },
  { flag: undefined, env: { HOME: '/h' }, paths: ['/h/.kube/config'] },
])('kubeconfigPaths of $env is $paths', ({ flag, env, paths }) => {
  expect(kubeconfigPaths(flag, env)).toEqual(paths)
})

test('within a cluster the service account is used; without one that is said', async () => {
  const options = { host: 'fd00::1', port: '443', folder, clock }
  await expect(inClusterConnection(options)).rejects.toMatchObject({ code: 'KubeconfigMissing' })
  for (const [name, content] of Object.entries({ token: 't\n', 'ca.crt': 'CA', namespace: 'slipway' }))
    await file(name, content)
  const connection = await inClusterConnection(options)
  expect(connection).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'slipway' })
  const trusted = () => connection.authority?.current(signal)
  expect(await trusted()).toBe('CA')
  await file('ca.crt', 'CA2')
  expect(await trusted()).toBe('CA')
  await clock.advance(61_000)
  expect(await trusted()).toBe('CA2')
  await file('ca.crt', '')
  connection.authority?.refused()
  expect(await trusted()).toBe('CA2')
  expect(await connection.credentials.current(signal)).toEqual({ authorization: 'Bearer t' })
})
