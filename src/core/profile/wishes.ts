// What one NodeProfile asks of a host, item by item; and what it asked for when it was last applied.

import type {
  DesiredFile,
  DesiredKernelArgument,
  DesiredPackage,
  DesiredRepository,
  DesiredState,
  DesiredSysctl,
  DesiredUnit,
} from '../../api/desired-state.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { ProfileFile } from '../../api/profile-items.ts'
import type { SealedText } from '../../api/sealed-text.ts'
import type { Origin, Wish } from './settle.ts'

type Bare<T> = Omit<T, keyof Origin>

export interface Wishes {
  readonly repositories: readonly Wish<Bare<DesiredRepository>>[]
  readonly packages: readonly Wish<Bare<DesiredPackage>>[]
  readonly files: readonly Wish<Bare<DesiredFile>>[]
  readonly units: readonly Wish<Bare<DesiredUnit>>[]
  readonly sysctls: readonly Wish<Bare<DesiredSysctl>>[]
  readonly kernelArguments: readonly Wish<Bare<DesiredKernelArgument>>[]
}

/** What a file of a ConfigMap or Secret holds for this host. */
export type Material = { readonly content: string } | { readonly sealed: SealedText }

export function wishesOf(profile: NodeProfile, material: (file: ProfileFile) => Material): Wishes {
  const { spec, metadata } = profile
  const origin: Origin = { profile: metadata.name, whenRemoved: spec.whenRemoved ?? 'Restore' }
  const wish = <T>(item: string, value: T): Wish<T> => ({ item, value, origin, priority: spec.priority ?? 0 })
  const argument = (wanted: boolean) => (text: string) => wish(`kernel argument ${text}`, { argument: text, wanted })
  const sysctls = Object.entries(spec.sysctls ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    repositories: (spec.repositories ?? []).map((repository) => wish(`repository ${repository.name}`, repository)),
    packages: (spec.packages ?? []).map((one) => wish(`package ${one.name}`, one)),
    files: [
      ...(spec.files ?? []).map((file) => wish(`file ${file.path}`, desiredFile(file, material(file)))),
      ...(spec.units ?? []).flatMap(({ name, dropIns = [] }) =>
        dropIns.map((dropIn) => {
          const path = `/etc/systemd/system/${name}.d/${dropIn.name}`
          return wish(`file ${path}`, plainFile(path, dropIn.content, [name]))
        }),
      ),
    ],
    units: (spec.units ?? [])
      .filter(({ enabled, state }) => enabled !== undefined || state !== undefined)
      .map(({ dropIns: _, ...unit }) => wish(`unit ${unit.name}`, unit)),
    sysctls: sysctls.map(([key, value]) => wish(`sysctl ${key}`, { key, value })),
    kernelArguments: [
      ...(spec.kernelArguments?.add ?? []).map(argument(true)),
      ...(spec.kernelArguments?.remove ?? []).map(argument(false)),
    ],
  }
}

/** The part of a state that came from one profile; files of sysctls are made anew from the sysctls. */
export function appliedWishes(profile: NodeProfile, before: DesiredState): Wishes {
  const priority = profile.spec.priority ?? 0
  const own = <T extends Origin>(items: readonly T[], name: (item: T) => string): Wish<Omit<T, keyof Origin>>[] =>
    items
      .filter((item) => item.profile === profile.metadata.name)
      .map((item) => {
        const { profile: name_, whenRemoved, ...value } = item
        return { item: name(item), value, origin: { profile: name_, whenRemoved }, priority }
      })
  return {
    repositories: own(before.repositories, ({ name }) => `repository ${name}`),
    packages: own(before.packages, ({ name }) => `package ${name}`),
    files: own(before.files, ({ path }) => `file ${path}`).filter(({ value }) => !isSysctlFile(value.path)),
    units: own(before.units, ({ name }) => `unit ${name}`),
    sysctls: own(before.sysctls, ({ key }) => `sysctl ${key}`),
    kernelArguments: own(before.kernelArguments, ({ argument }) => `kernel argument ${argument}`),
  }
}

const sysctlFolder = '/etc/sysctl.d'

export function sysctlPath(profile: string): string {
  return `${sysctlFolder}/90-slipway-${profile}.conf`
}

export function isSysctlFile(path: string): boolean {
  return path.startsWith(`${sysctlFolder}/90-slipway-`)
}

export function plainFile(path: string, content: string, restarts: readonly string[]): Bare<DesiredFile> {
  return { path, mode: '0644', owner: 'root', group: 'root', restarts: [...restarts], content }
}

function desiredFile({ path, mode, owner, group, restarts }: ProfileFile, material: Material): Bare<DesiredFile> {
  const secret = 'sealed' in material
  return {
    path,
    mode: (mode ?? (secret ? '0600' : '0644')).padStart(4, '0'),
    owner: owner ?? 'root',
    group: group ?? 'root',
    restarts: restarts ?? [],
    ...material,
  }
}
