import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentUnit } from '../../cli/install/agent-unit.ts'

const script = readFileSync('deploy/host/install.sh', 'utf8')

/** A machine below a folder: the installer with its paths there, and no program of it that would touch this one. */
let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'slipway-install-'))
  for (const folder of ['bundle', 'bin', 'opt', 'etc/systemd/system'])
    mkdirSync(join(root, folder), { recursive: true })
  program(
    'bundle/install.sh',
    script.replaceAll('/opt/slipway', `${root}/opt/slipway`).replaceAll('=/etc/', `=${root}/etc/`),
  )
  program('bundle/node', '#!/bin/sh\necho 1.2.3\n')
  program('bundle/slipway', '#!/bin/sh\necho 1.2.3\n')
  writeFileSync(join(root, 'bundle/slipway-agent.service'), agentUnit())
  program('bin/id', '#!/bin/sh\necho 0\n')
  for (const name of ['systemctl', 'chown', 'restorecon'])
    program(`bin/${name}`, `#!/bin/sh\necho ${name} "$@" >> ${root}/calls\n`)
})
afterEach(() => rmSync(root, { recursive: true }))

function program(path: string, text: string): void {
  writeFileSync(join(root, path), text)
  chmodSync(join(root, path), 0o755)
}

function install(...options: readonly string[]) {
  const env = { PATH: `${root}/bin:/usr/bin:/bin` }
  const { status, stdout, stderr } = spawnSync('/bin/sh', [join(root, 'bundle/install.sh'), ...options], { env })
  return { status, said: `${stdout}${stderr}` }
}

const unitPath = () => join(root, 'etc/systemd/system/slipway-agent.service')
const unit = () => readFileSync(unitPath(), 'utf8')
const named = (name: string, only?: 'reboots') => agentUnit(only).replace('--node-name=%H', `--node-name=${name}`)

describe('install.sh', () => {
  it('writes the unit of all drivers, for the name of the host', () => {
    expect(install()).toMatchObject({ status: 0 })
    expect(unit()).toBe(agentUnit())
    expect(readFileSync(join(root, 'calls'), 'utf8')).toContain('systemctl restart slipway-agent.service')
  })

  it.each([[['--only=reboots']], [['--only', 'reboots']]])('writes that of reboots alone: %s', (options) => {
    expect(install(...options)).toMatchObject({ status: 0 })
    expect(unit()).toBe(agentUnit('reboots'))
  })

  it('keeps what it was told before, and says so', () => {
    install('--node-name', 'w3.example', '--only=reboots')
    const { status, said } = install()
    expect({ status, unit: unit() }).toEqual({ status: 0, unit: named('w3.example', 'reboots') })
    expect(said).toContain('as before: --node-name=w3.example --only=reboots\n')
  })

  it('takes another word for one of them, and keeps the other', () => {
    install('--node-name=w3', '--only=reboots')
    install('--node-name', 'w4')
    expect(unit()).toBe(named('w4', 'reboots'))
    install('--only=all')
    expect(unit()).toBe(named('w4'))
    install('--node-name=%H')
    expect(unit()).toBe(agentUnit())
  })

  it('keeps a name that was written into the unit by hand', () => {
    install()
    writeFileSync(unitPath(), named('w5'))
    install()
    expect(unit()).toBe(named('w5'))
  })

  it.each([
    [['--only=upgrades'], 'knows no --only=upgrades'],
    [['--only'], '--only needs'],
    [['--node-name', 'W_3'], 'W_3 is no name of a node'],
    [['--everything'], 'knows no --everything'],
  ])('refuses %s before it changes anything', (options, words) => {
    const { status, said } = install(...options)
    expect({ status, said }).toEqual({ status: expect.any(Number), said: expect.stringContaining(words) })
    expect(status).not.toBe(0)
    expect(existsSync(unitPath())).toBe(false)
  })

  it('knows nothing of before once it was taken off', () => {
    install('--node-name', 'w3', '--only=reboots')
    expect(install('--remove')).toMatchObject({ status: 0 })
    expect(existsSync(join(root, 'opt/slipway'))).toBe(false)
    install()
    expect(unit()).toBe(agentUnit())
  })
})
