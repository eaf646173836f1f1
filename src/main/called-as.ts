import { basename } from 'node:path'

export interface CalledAs {
  /** How people type it. */
  readonly program: string
  readonly argv: readonly string[]
}

/**
 * By the name the program was found under. kubectl runs `kubectl-slipway` for `kubectl slipway`, and asks `kubectl_complete-slipway`
 * what may stand at the end of such a line.
 */
export function calledAs(path: string, argv: readonly string[]): CalledAs {
  const name = basename(path)
  if (name === 'kubectl_complete-slipway') {
    return { program: 'kubectl slipway', argv: ['__complete', '--kubectl', '--', ...argv] }
  }
  return { program: name === 'kubectl-slipway' ? 'kubectl slipway' : 'slipway', argv }
}
