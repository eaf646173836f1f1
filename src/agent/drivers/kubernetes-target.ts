import type { Order } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Component } from '../../api/work.ts'
import { componentsOf } from '../../core/update/drivers-for.ts'
import { parseVersion, type Version } from '../../core/version.ts'

export function asksFor(component: Component, { work }: Order): boolean {
  return work.kubernetes !== undefined && componentsOf(work.kubernetes).includes(component)
}

/** The version the order brings this host to. */
export function targetVersion({ id, work }: Order): Version {
  const version = parseVersion(work.kubernetes?.version ?? '')
  if (!version) throw new SlipwayError('Internal', `order ${id} names no version of Kubernetes`)
  return version
}

/** The programs come with the operating system's image: nothing is installed, the image is booted. */
export function bringsPrograms({ work }: Order): boolean {
  return work.os?.image !== undefined
}
