import { Option } from 'commander'
import type { CliDependencies } from './dependencies.ts'

export type Format = 'table' | 'json' | 'yaml'

export function formatOption(...formats: readonly Format[]): Option {
  return new Option('-o, --output <format>', 'how the answer is written').choices(formats).default('table')
}

/** Writes a value for machines. */
export async function writeValue(
  deps: Pick<CliDependencies, 'out' | 'yaml'>,
  format: 'json' | 'yaml',
  value: unknown,
): Promise<void> {
  deps.out.write(format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : (await deps.yaml()).print(value))
}
