// Any failure as one of ours: a code, a sentence for a person, and what to do next.

import { isKubeError, type KubeError } from '../api/kube-error.ts'
import { SlipwayError, type SlipwayErrorCode } from '../api/slipway-error.ts'

export const installHint = 'run: slipway install'

/** Any failure as one of ours, with a sentence for a person. */
export function asSlipwayError(error: unknown): SlipwayError {
  if (error instanceof SlipwayError) return error
  if (isKubeError(error)) return fromKubeError(error)
  const message = error instanceof Error ? error.message : String(error)
  return new SlipwayError('Internal', message, {
    cause: error,
    nextStep: 'run it again with --debug and report what it prints',
  })
}

function fromKubeError(error: KubeError): SlipwayError {
  const ours = (code: SlipwayErrorCode, message: string, nextStep: string) =>
    new SlipwayError(code, message, { nextStep: error.nextStep ?? nextStep, cause: error })
  switch (error.code) {
    case 'Unreachable':
    case 'Timeout':
      return ours(
        'CannotReach',
        `the API server does not answer: ${error.message}`,
        'check the server address of the kubeconfig (--kubeconfig, --context) and that you can reach it',
      )
    case 'Unauthorized':
      return ours(
        'NotPermitted',
        `the API server does not accept these credentials: ${error.message}`,
        'log in again, or choose other credentials with --kubeconfig or --context',
      )
    case 'Forbidden':
      return notPermitted(error)
    case 'Invalid':
      return invalid(error)
    case 'AlreadyExists':
      return ours('Usage', `it exists already: ${error.message}`, 'choose another --name')
    case 'NotFound':
      return ours('NotFound', error.message, 'look at what there is: slipway status, slipway nodes')
    case 'Conflict':
    case 'Expired':
    case 'ServerError':
    case 'TooManyRequests':
      return ours('Internal', `the API server refused: ${error.message}`, 'try again')
  }
}

function invalid(error: KubeError): SlipwayError {
  // Whatever we send has passed our own schema, so a field the server does not know is one its CRDs do not have yet.
  const unknown = /unknown field "([^"]+)"/.exec(error.message)
  if (unknown) {
    return new SlipwayError(
      'CrdsOutdated',
      `the cluster's CustomResourceDefinitions are older than this program: they do not know ${unknown[1]}`,
      { nextStep: `bring them up to date; ${installHint}`, cause: error },
    )
  }
  const fields = error.causes.flatMap(({ field, message }) =>
    message ? [field ? `${field}: ${message}` : message] : [],
  )
  return new SlipwayError(
    'Usage',
    `the API server refused it: ${fields.length > 0 ? fields.join('; ') : error.message}`,
    {
      nextStep: 'correct what is named and try again',
      cause: error,
    },
  )
}

function notPermitted(error: KubeError): SlipwayError {
  // An admission policy, ours or another, says in its own words what it wants.
  const [, denied] = /^.*? denied request: (.*)$/s.exec(error.message) ?? []
  const [message, nextStep] =
    denied === undefined
      ? [missingRight(error.message), 'ask for this right, or use another --context']
      : [`you may not do this: ${denied}`, 'ask for the role that is named, or use another --context']
  return new SlipwayError('NotPermitted', message, { nextStep, cause: error })
}

/** The server's sentence names user, verb, resource, group and scope; only what is missing matters here. */
function missingRight(message: string): string {
  const parts = /cannot (\S+) resource "([^"]+)"(?: in API group "([^"]*)")?(.*)$/.exec(message)
  if (!parts) return `you have no right to do this: ${message}`
  const [, verb, resource, group, scope] = parts
  const namespace = /in the namespace "([^"]+)"/.exec(scope ?? '')
  const what = group ? `${resource}.${group}` : resource
  return `you may not ${verb} ${what} ${namespace ? `in namespace ${namespace[1]}` : 'in the whole cluster'}`
}
