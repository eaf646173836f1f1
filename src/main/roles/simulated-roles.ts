// The roles that run on a simulated cluster. Each is its own function, so that each can be filled in by itself.

import { SlipwayError } from '../../api/slipway-error.ts'
import type { CliDependencies } from '../../cli/dependencies.ts'

export const demoRole: CliDependencies['runDemo'] = () => missing('demo')
export const simulateRole: CliDependencies['runSimulate'] = () => missing('simulate')

function missing(role: string): Promise<never> {
  return Promise.reject(new SlipwayError('Internal', `this build has no ${role}`, { nextStep: 'use a newer build' }))
}
