import { bootImageMachine } from '../../bed/osimage/image-machine.ts'
import { makeOsImage } from '../../bed/osimage/os-image.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { registryOf, toolFiles } from '../image-case.ts'
import { profileCase } from '../profile-case.ts'

const argument = 'panic=30'

/** Of the boot that comes next, as the boot loader would read it. */
export const conformanceCase: ConformanceCase = profileCase(
  'kernel arguments: rpm-ostree',
  { kernelArguments: { add: [argument] } },
  {
    tool: { name: 'rpm-ostree', version: ['sh', '-c', 'echo ostree $(ostree --version | sed -n "s/.*Version: //p")'] },
    setUp: async (bed) => {
      const registry = await registryOf(bed)
      const image = await makeOsImage(registry, { version: '3.9', files: toolFiles('rpm-ostree') })
      return await bootImageMachine(bed, registry, { image })
    },
    isKeptAtShutdown: true,
    isDone: async (machine) => (await machine.run(['rpm-ostree', 'kargs'])).split(/\s+/).includes(argument),
    check: async (machine) => {
      // What was asked for is felt after a boot.
      await machine.reboot()
      const booted = await machine.readFile('/proc/cmdline')
      if (!booted.split(/\s+/).includes(argument)) throw new Error(`the machine booted with ${booted}`)
    },
  },
)
