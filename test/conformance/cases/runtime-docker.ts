import { runtimeDriver } from '../../../src/agent/drivers/runtime/runtime-driver.ts'
import { dockerLayers, dockerRepository } from '../../bed/docker-packages.ts'
import type { Machine } from '../../bed/machine.ts'
import { kubernetesVersion } from '../../bed/versions.ts'
import type { ConformanceCase } from '../conformance-case.ts'

const container = (machine: Machine, word: string) => machine.run(['docker', 'inspect', '--format', word, 'steady'])
/** The boot in which the container was started, and its process. */
const started = new WeakMap<Machine, { readonly bootId: string; readonly pid: string }>()

/** Debian's, with live-restore: a container that runs goes on through all of it. */
export const conformanceCase: ConformanceCase = {
  name: 'runtime (docker)',
  tool: { name: 'dockerd', version: ['dockerd', '--version'] },
  driver: runtimeDriver,
  setUp: async (bed) => {
    const machine = await bed.machine({ layers: await dockerLayers() })
    await bed.trust(machine, 'docker', bed.repositories.serve('docker', await dockerRepository()))
    await machine.run(['apt-get', 'update', '-qq'])
    await machine.run(['sh', '-c', 'tar -C / -c bin/busybox | docker import - busybox'])
    await machine.run([
      'docker',
      'run',
      '--detach',
      '--name=steady',
      '--network=none',
      'busybox',
      '/bin/busybox',
      'sleep',
      '1d',
    ])
    started.set(machine, { bootId: await machine.bootId(), pid: await container(machine, '{{.State.Pid}}') })
    return machine
  },
  order: () => Promise.resolve({ work: { kubernetes: { version: kubernetesVersion, components: ['containerd'] } } }),
  isDone: async (machine) => {
    const wanted = (await machine.run(['dockerd', '--version'])).split(' ')[2]?.replace(',', '')
    const running = await machine.exec(['docker', 'version', '--format={{.Server.Version}}'])
    const { stdout } = await machine.exec(['dpkg-query', '--show', `--showformat=\${Version}`, 'docker.io'])
    return stdout.endsWith('+newer') && running.stdout.trim() === wanted
  },
  check: async (machine) => {
    const before = started.get(machine)
    if (before?.bootId !== (await machine.bootId())) return
    const pid = await container(machine, '{{.State.Pid}}')
    if (pid !== before.pid) throw new Error(`the container runs as process ${pid}, not as ${before.pid} any more`)
  },
}
