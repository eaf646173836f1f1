import { readFile } from 'node:fs/promises'
import { SlipwayError } from '../../api/slipway-error.ts'
import { machinePath } from './machine-path.ts'

/** Users and groups as the machine's own files name them; the container's say nothing of the machine. */
export class MachineNames {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  async of(uid: number, gid: number): Promise<{ readonly owner: string; readonly group: string }> {
    const [users, groups] = await this.#tables()
    return { owner: nameOf(users, uid), group: nameOf(groups, gid) }
  }

  async ids(owner: string, group: string): Promise<{ readonly uid: number; readonly gid: number }> {
    const [users, groups] = await this.#tables()
    return { uid: idOf(users, owner, 'user'), gid: idOf(groups, group, 'group') }
  }

  #tables(): Promise<readonly [string, string]> {
    return Promise.all([this.#read('/etc/passwd'), this.#read('/etc/group')])
  }

  async #read(path: string): Promise<string> {
    return await readFile(await machinePath(this.#root, path, true), 'utf8').catch(() => '')
  }
}

function nameOf(table: string, id: number): string {
  const line = table.split('\n').find((entry) => entry.split(':')[2] === String(id))
  return line?.split(':')[0] ?? String(id)
}

function idOf(table: string, name: string, what: string): number {
  if (/^[0-9]+$/.test(name)) return Number(name)
  const id = table
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
    ?.split(':')[2]
  if (id === undefined) {
    throw new SlipwayError('NotFound', `the host has no ${what} "${name}"`, {
      nextStep: `make the ${what} first, or name it by its number`,
    })
  }
  return Number(id)
}
