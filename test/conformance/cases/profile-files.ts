import type { ConformanceCase } from '../conformance-case.ts'
import { profileCase } from '../profile-case.ts'

const replaced = '/etc/issue.net'
const fresh = '/opt/a/b/c'

/** One file that is replaced, and one in folders that are not there yet. */
export const conformanceCase: ConformanceCase = profileCase(
  'files',
  {
    files: [
      { path: replaced, content: 'welcome\n', mode: '0640' },
      { path: fresh, content: 'deep\n', owner: 'daemon' },
    ],
  },
  {
    setUp: async (bed) => {
      const machine = await bed.machine()
      await machine.writeFile(replaced, 'as found\n', 0o600)
      return machine
    },
    isDone: async (machine) => {
      const { stdout } = await machine.exec(['stat', '-c', '%a %U', replaced, fresh])
      return stdout === '640 root\n644 daemon\n' && (await machine.readFile(fresh)) === 'deep\n'
    },
  },
)
