import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foreignDaemonSetSchema } from '../../api/foreign-daemon-set.ts'
import { containerOf, hostPath, readFlags } from './flags.ts'
import { goBoolean, goDuration, goInteger } from './go-values.ts'
import { shellWords } from './shell-words.ts'

const form = { variables: 'KURED', booleans: new Set(['force-reboot']), secrets: new Set(['notify-url']) }
const valuesOf = (container: object) => {
  const { given, remarks } = readFlags({ name: 'kured', ...container }, form)
  return { given: Object.fromEntries([...given].map(([name, all]) => [name, all.map(({ value }) => value)])), remarks }
}

describe('flags of a container', () => {
  it.each([
    [{ command: ['/usr/bin/kured', '--period=1h', '--start-time', '9am'] }, { period: ['1h'], 'start-time': ['9am'] }],
    [
      { command: ['kured'], args: ['--force-reboot', '--period=1h'] },
      { 'force-reboot': ['true'], period: ['1h'] },
    ],
    [{ args: ['--force-reboot=false'] }, { 'force-reboot': ['false'] }],
    [{ args: ['--a=1', '--a=2'] }, { a: ['1', '2'] }],
    [{ args: ['--reboot-command=a --b=c'] }, { 'reboot-command': ['a --b=c'] }],
    [{ args: ['--grace', '-1'] }, { grace: ['-1'] }],
    [{ args: ['--a=', '--', '--b=1'] }, { a: [''] }],
    [{ command: ['/bin/sh', '-c', 'exec kured --a="b c" --d'], args: ['--x=1'] }, { a: ['b c'] }],
    [
      { args: ['--zone=$(ZONE)', '--b=$$(ZONE)', '--c=$(NO)'], env: [{ name: 'ZONE', value: 'UTC' }] },
      { zone: ['UTC'], b: ['$(ZONE)'], c: ['$(NO)'] },
    ],
    [
      {
        args: ['--period=1h'],
        env: [
          { name: 'KURED_PERIOD', value: '2h' },
          { name: 'KURED_DS_NAME', value: 'x' },
        ],
      },
      { period: ['1h'], 'ds-name': ['x'] },
    ],
  ])('%o', (container, given) => {
    expect(valuesOf(container).given).toEqual(given)
  })

  it('remarks on what it cannot read, and shows no secret', () => {
    const env = [
      { name: 'KURED_NODE_ID', valueFrom: {} },
      { name: 'KURED_NOTIFY_URL', valueFrom: { secretKeyRef: {} } },
    ]
    const { remarks } = valuesOf({ args: ['--period'], env, envFrom: [{}] })
    expect(remarks.map(({ what }) => what)).toEqual(['--period', 'KURED_NOTIFY_URL', 'envFrom'])
    const { given } = readFlags({ name: 'kured', args: ['--notify-url', 'slack://token', '--p=http://a:b@c/d'] }, form)
    expect(given.get('p')?.[0]?.shown).toBe('--p=http://…@c/d')
    expect(given.get('notify-url')).toEqual([{ value: 'slack://token', shown: '--notify-url=…' }])
  })
})

const daemonSet = (containers: readonly object[]) =>
  foreignDaemonSetSchema.parse({
    metadata: { name: 'x' },
    spec: { template: { spec: { containers, volumes: [{ name: 'run', hostPath: { path: '/var/run/' } }] } } },
  })

describe('where it runs', () => {
  it.each([
    [
      [
        { name: 'a', image: 'x/kured:1' },
        { name: 'b', image: 'x/y' },
      ],
      'a',
    ],
    [
      [
        { name: 'a', image: 'localhost:5000/y' },
        { name: 'b', image: 'localhost:5000/kured@sha256:0' },
      ],
      'b',
    ],
    [
      [
        { name: 'a', image: 'x/y' },
        { name: 'b', command: ['/usr/bin/kured'] },
      ],
      'b',
    ],
    [[{ name: 'a', image: 'x/y' }], 'a'],
    [
      [
        { name: 'a', image: 'x/kured-tools' },
        { name: 'b', image: 'x/y' },
      ],
      undefined,
    ],
  ])('%o', (containers, name) => {
    expect(containerOf(daemonSet(containers), 'kured')?.name).toBe(name)
  })

  it.each([
    ['/sentinel/reboot-required', undefined, '/var/run/reboot-required'],
    ['/sentinel/a/b', 'sub', '/var/run/sub/a/b'],
    ['/sentinels/x', undefined, '/sentinels/x'],
    ['/var/run/x', undefined, '/var/run/x'],
  ])('%s', (path, subPath, host) => {
    const container = {
      name: 'a',
      volumeMounts: [{ name: 'run', mountPath: '/sentinel/', ...(subPath && { subPath }) }],
    }
    expect(hostPath(daemonSet([container]), container, path)).toBe(host)
  })
})

describe('values', () => {
  it.each([
    ['0', 0],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['90s', 90_000],
    ['500ms', 500],
    ['5', undefined],
    ['h', undefined],
    ['1h x', undefined],
    ['', undefined],
  ])('a duration %s', (text, ms) => expect(goDuration(text)).toBe(ms))

  it('booleans and numbers', () => {
    expect(['true', 'T', '1', 'FALSE', '0', 'yes'].map(goBoolean)).toEqual([true, true, true, false, false, undefined])
    expect(['-1', '30', '1.5', ''].map(goInteger)).toEqual([-1, 30, undefined, undefined])
  })

  it.each([
    ['sh -c "! needs-restarting --reboothint"', ['sh', '-c', '! needs-restarting --reboothint']],
    [`a 'b "c' d\\ e ""`, ['a', 'b "c', 'd e', '']],
    ['a"b"c  ', ['abc']],
    ['"a\\"b\\n"', ['a"b\\n']],
    ['', []],
    ['"open', undefined],
  ])('words of %s', (text, words) => expect(shellWords(text)).toEqual(words))

  it('words that were quoted come back', () => {
    const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        expect(shellWords(words.map(quoted).join(' '))).toEqual(words)
      }),
    )
  })
})
