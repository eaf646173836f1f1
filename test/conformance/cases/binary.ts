import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WebDownload } from '../../../src/adapters/download/web-download.ts'
import { binaryDriver } from '../../../src/agent/drivers/binary/binary-driver.ts'
import type { Download } from '../../../src/ports/download.ts'
import type { Bed } from '../../bed/bed.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { lifePlanSchema } from '../life-plan.ts'

const path = '/usr/local/bin/k3s'
const unit = `[Service]
ExecStart=${path} server
Restart=always
[Install]
WantedBy=multi-user.target
`
/** Prints as k3s does, and serves for ever. */
const program = (version: string) => `#!/bin/sh
[ "$1" != --version ] || { echo 'k3s version ${version} (bed)'; exit; }
echo '${version}' >/run/k3s-version
exec sleep infinity
`
const wanted = program('v1.36.3+k3s1')
const sha256 = createHash('sha256').update(wanted).digest('hex')

let url = ''

export const conformanceCase: ConformanceCase = {
  name: 'binary',
  tool: { name: 'systemctl', version: ['systemctl', '--version'] },
  driver: binaryDriver(downloadInto()),
  setUp: async (bed) => {
    url = await serve(bed)
    const machine = await bed.machine()
    await machine.writeFile(path, program('v1.35.4+k3s1'), 0o755)
    await machine.writeFile('/etc/systemd/system/k3s.service', unit)
    await machine.run(['systemctl', 'enable', '--now', 'k3s'])
    return machine
  },
  order: () => Promise.resolve({ work: { binary: { name: 'k3s', url, sha256, path, restart: ['k3s.service'] } } }),
  isDone: async (machine) =>
    (await machine.readFile(path)) === wanted && (await machine.readFile('/run/k3s-version')) === 'v1.36.3+k3s1\n',
}

async function serve(bed: Bed): Promise<string> {
  const folder = join(bed.slot.folder, 'k3s')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'k3s'), wanted)
  bed.repositories.serve('k3s', folder)
  return `${bed.repositories.url}/k3s/k3s`
}

/** The agent of this suite sees its machine from outside. */
function downloadInto(): Download {
  const web = new WebDownload()
  return {
    fetch: (request, signal) => {
      const { initPid } = lifePlanSchema.parse(JSON.parse(process.argv[2] ?? ''))
      return web.fetch({ ...request, to: `/proc/${initPid}/root${request.to}` }, signal)
    },
  }
}
