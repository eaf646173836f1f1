// The images that `make image` and `make release-image` write, under a real containerd.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { nodeTemplate } from '../bed/node-template.ts'
import { olderKubernetesVersion } from '../bed/versions.ts'
import { repository } from '../house/planted-tree.ts'
import { releasedImage, version } from './slipway-in-cluster.ts'

const image = `docker.io/library/slipway:${version}`
let bed: Bed
let machine: Machine
let containers = 0

beforeAll(async () => {
  bed = await openBed()
  machine = await bed.machine(await nodeTemplate(bed, olderKubernetesVersion))
  while ((await machine.exec(['ctr', 'version'])).code !== 0) await delay(100)
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

const enter = ['nsenter', '--target=1', '--mount', '--uts', '--ipc', '--']
/** As the DaemonSet has it: root, privileged, with the machine's processes and its root. */
const likeTheAgent = [
  ...['--user', '0:0'],
  ...['--privileged', '--net-host', '--with-ns', 'pid:/proc/1/ns/pid'],
  ...['--mount', 'type=bind,src=/,dst=/host,options=rbind:rslave'],
]

/** Each in a namespace of containerd of its own: they have one name. */
const images = [
  { image: 'for this architecture', space: 'made', archive: join(repository, 'dist/image/slipway.tar') },
  { image: 'of a release, for two architectures', space: 'released', archive: releasedImage },
]

describe.each(images)('the image $image', ({ space, archive }) => {
  const ctr = (...args: readonly string[]) => machine.exec(['ctr', '-n', space, ...args])
  const run = (flags: readonly string[], ...argv: readonly string[]) =>
    ctr('run', '--rm', ...flags, image, `c${++containers}`, ...argv)

  it('is imported', async () => {
    const input = { file: archive }
    const { code, stderr } = await machine.exec(['ctr', '-n', space, 'images', 'import', '/dev/stdin'], { input })
    expect(code, stderr).toBe(0)
  })

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
    const { code, stdout } = await run(hosts, 'node', '-e', look)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '65532 127.0.0.1\n' })
  })

  it('enters the machine', async () => {
    const { code, stdout } = await run(likeTheAgent, ...enter, 'systemctl', 'is-active', 'containerd')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'active\n' })
  })

  it('starts units there that survive it and the runtime', async () => {
    const unit = `survivor-of-${space}`
    await run(likeTheAgent, ...enter, 'systemd-run', '--quiet', `--unit=${unit}`, 'sleep', '4711')
    await machine.run(['systemctl', 'restart', 'containerd'])
    expect(await machine.run(['systemctl', 'is-active', unit])).toBe('active\n')
  })

  it('sees the machine’s own boot id below its root', async () => {
    const read = 'console.log(require("fs").readFileSync("/host/proc/sys/kernel/random/boot_id", "utf8").trim())'
    expect((await run(likeTheAgent, 'node', '-e', read)).stdout).toBe(`${await machine.bootId()}\n`)
  })
})
