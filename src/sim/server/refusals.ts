// The API server's refusals, in its own words and codes.

import type { ResourceType } from '../../api/kube.ts'
import { KubeError, type KubeErrorCause } from '../../api/kube-error.ts'
import { qualifiedPlural } from './stored-object.ts'

export function notFound(type: ResourceType, name: string): KubeError {
  return new KubeError('NotFound', `${qualifiedPlural(type)} "${name}" not found`, { status: 404, reason: 'NotFound' })
}

export function alreadyExists(type: ResourceType, name: string): KubeError {
  return new KubeError('AlreadyExists', `${qualifiedPlural(type)} "${name}" already exists`, {
    status: 409,
    reason: 'AlreadyExists',
  })
}

export function conflict(type: ResourceType, name: string, why: string): KubeError {
  return new KubeError('Conflict', `Operation cannot be fulfilled on ${qualifiedPlural(type)} "${name}": ${why}`, {
    status: 409,
    reason: 'Conflict',
  })
}

export function modified(type: ResourceType, name: string): KubeError {
  return conflict(
    type,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
}

export function invalid(type: ResourceType, name: string, causes: readonly KubeErrorCause[]): KubeError {
  const told = causes.map((cause) => `${cause.field}: ${cause.message}`)
  const list = told.length === 1 ? told[0] : `[${told.join(', ')}]`
  return new KubeError('Invalid', `${type.kind} "${name}" is invalid: ${list}`, {
    status: 422,
    reason: 'Invalid',
    causes,
  })
}

export function badRequest(message: string): KubeError {
  return new KubeError('Invalid', message, { status: 400, reason: 'BadRequest' })
}

export function forbidden(message: string): KubeError {
  return new KubeError('Forbidden', message, { status: 403, reason: 'Forbidden' })
}

export function expired(message: string): KubeError {
  return new KubeError('Expired', message, { status: 410, reason: 'Expired' })
}
