import { scriptOrder } from './agent-bench.ts'
import { StepBench } from './step-bench.ts'

export const newTool = 'tool_0:2.0-1'
const notOnOffer = {
  exitCode: 1,
  stdout: 'Installed package kubelet-1.36.3-1.x86_64 not available.\n',
  stderr: 'Error: No packages marked for reinstall.\n',
}

export interface Failure {
  readonly exitCode: number
  readonly stderr: string
}

export interface DoubledRpms {
  /** What dnf puts into the folder for `reinstall`, by what is asked of it; nothing where it cannot. */
  readonly reinstalls: (specs: string) => readonly string[]
  readonly rpmTest?: (words: string) => Failure | undefined
  /** How the download for `reinstall` ends; its files are in the folder all the same. */
  readonly download?: (specs: string) => Failure | undefined
  readonly locks?: string
  /** What is installed beside kernels: name and version. */
  readonly rows?: readonly string[]
  /** Of those, the ones whose versions have folders of their own, and share a licence. */
  readonly sideBySide?: readonly string[]
}

const usual = ['kubelet 0:1.35.4-1', 'kubelet 0:1.36.3-1', 'lib 1:2.0-1', 'lib 1:1.0-1', 'tool 0:1.0-1']

/** A host with dnf on which kubelet and lib were left twice; the kernel is there twice on purpose. */
export async function doubledRpms(
  { reinstalls, rpmTest, download, locks = '', rows = usual, sideBySide = [] }: DoubledRpms,
  order = scriptOrder(),
): Promise<StepBench> {
  const bench = new StepBench(order)
  const kernels = ['kernel-core 0:5.14.0-1.el9', 'kernel-core 0:5.14.0-2.el9']
  await bench.put('/usr/bin/dnf', '')
  await bench.put('/etc/dnf/plugins/versionlock.list', locks)
  bench.answers({
    'dnf --version': '4.14.0\n',
    'rpm --eval': 'x86_64\n',
    'rpm -qa': [...rows, ...kernels].map((row) => `${row.replace(' ', '\t')}\tx86_64\n`).join(''),
    'rpm -q --qf': 'kernel-core\n',
    'rm -rf': '',
    'mkdir -p': '',
    'sync -f': '',
    makecache: '',
    '--showduplicates': 'kubelet|0:1.35.4-1\nkubelet|0:1.36.3-1\ntool|0:1.0-1\ntool|0:2.0-1\n',
    '--userinstalled': 'kubelet\n',
    'rpm -U --test': '',
    '--provides': '',
  })
  const filesOf = (words: string) =>
    rows
      .map((row) => row.split(' '))
      .filter(([name]) => words.endsWith(` ${name}`))
      .map(([name, version]) => {
        const files = sideBySide.includes(name ?? '')
          ? [`\t/opt/${name}`, `of ${version}\t/opt/${name}/${version}/run`, `free\t/usr/share/licenses/${name}`]
          : [`of ${version}\t/usr/bin/${name}`]
        return [`${name}\t${version}\tx86_64`, ...files].map((line) => `${line}\n`).join('')
      })
      .join('')
  const { run } = bench.host
  bench.host.run = async (command) => {
    const words = command.argv.join(' ')
    if (words.startsWith('rpm -qp') && words.includes('--qf')) {
      const [, name, version] = /archives\/(.*)_(.*)\.rpm$/.exec(words) ?? []
      return { exitCode: 0, stdout: `${name}\t${version}\tx86_64\n`, stderr: '' }
    }
    if (words.includes('filedigests')) return { exitCode: 0, stdout: filesOf(words), stderr: '' }
    const untested = words.startsWith('rpm -U --test') ? rpmTest?.(words) : undefined
    if (untested) return { stdout: '', ...untested }
    if (words.includes(' install tool-')) {
      if (words.includes('--downloadonly')) await bench.put(`${destinationOf(words)}/${newTool}.rpm`, 'tool')
      return { exitCode: 0, stdout: '', stderr: '' }
    }
    const asked = words.split(' reinstall ')[1]
    if (asked === undefined) return run.call(bench.host, command)
    bench.ran.push(words)
    const files = reinstalls(asked)
    if (files.length === 0) return notOnOffer
    if (words.includes('--downloadonly'))
      for (const file of files) await bench.put(`${destinationOf(words)}/${file}.rpm`, file)
    const undone = words.includes('--downloadonly') ? download?.(asked) : undefined
    if (undone) return { stdout: '', ...undone }
    return { exitCode: 0, stdout: '', stderr: '' }
  }
  return bench
}

export const all = { kubelet: 'kubelet_0:1.36.3-1', lib: 'lib_1:2.0-1' }
export const offering = (names: readonly (keyof typeof all)[]) => (specs: string) =>
  names.filter((name) => specs.includes(`${name}-`)).map((name) => all[name])

const destinationOf = (words: string) => /--destdir=(\S+)/.exec(words)?.[1]
