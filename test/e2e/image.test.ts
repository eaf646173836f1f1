// The image that `make image` writes, under a real containerd.

import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { nodeTemplate } from '../bed/node-template.ts'
import { olderKubernetesVersion } from '../bed/versions.ts'
import { repository } from '../house/planted-tree.ts'
import { imageArchive } from './slipway-in-cluster.ts'

const version = execFileSync('node', ['-p', 'require("./package.json").version'], { cwd: repository }).toString().trim()
const image = `docker.io/library/slipway:${version}`
let bed: Bed
let machine: Machine
let containers = 0

beforeAll(async () => {
  bed = await openBed()
  machine = await bed.machine(await nodeTemplate(bed, olderKubernetesVersion))
  while ((await ctr('version')).code !== 0) await delay(100)
  const imported = await machine.exec(['ctr', 'images', 'import', '/dev/stdin'], { input: { file: imageArchive } })
  expect(imported.code, imported.stderr).toBe(0)
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

const ctr = (...args: readonly string[]) => machine.exec(['ctr', ...args])
const run = (flags: readonly string[], ...argv: readonly string[]) =>
  ctr('run', '--rm', ...flags, image, `c${++containers}`, ...argv)

const enter = ['nsenter', '--target=1', '--mount', '--uts', '--ipc', '--']
/** As the DaemonSet has it: privileged, with the machine's processes and its root. */
const likeTheAgent = [
  ...['--privileged', '--net-host', '--with-ns', 'pid:/proc/1/ns/pid'],
  ...['--mount', 'type=bind,src=/,dst=/host,options=rbind:rslave'],
]

describe('the image', () => {
  it('runs the program', async () => {
    expect(await run([], 'node', '/opt/slipway/slipway.mjs', '--version')).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
    })
  })

  it('runs as nobody in particular, and finds names', async () => {
    const look =
      'require("dns").lookup("localhost", (error, address) => console.log(process.getuid(), error ?? address))'
    const hosts = ['--mount', 'type=bind,src=/etc/hosts,dst=/etc/hosts,options=rbind:ro']
    const { code, stdout } = await run(['--user', '65532:65532', ...hosts], 'node', '-e', look)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '65532 127.0.0.1\n' })
  })

  it('enters the machine', async () => {
    const { code, stdout } = await run(likeTheAgent, ...enter, 'systemctl', 'is-active', 'containerd')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'active\n' })
  })

  it('starts units there that survive it and the runtime', async () => {
    await run(likeTheAgent, ...enter, 'systemd-run', '--quiet', '--unit=survivor', 'sleep', '4711')
    await machine.run(['systemctl', 'restart', 'containerd'])
    expect(await machine.run(['systemctl', 'is-active', 'survivor'])).toBe('active\n')
  })

  it('sees the machine’s own boot id below its root', async () => {
    const read = 'console.log(require("fs").readFileSync("/host/proc/sys/kernel/random/boot_id", "utf8").trim())'
    expect((await run(likeTheAgent, 'node', '-e', read)).stdout).toBe(`${await machine.bootId()}\n`)
  })
})
