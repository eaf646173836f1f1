import { checkNames, checks } from '../../api/preflight.ts'

export function renderChecks(): string {
  const rows = checkNames.map((name) => {
    const { fails = '–', warns = '–' }: { readonly fails?: string; readonly warns?: string } = checks[name]
    return `| \`${name}\` | ${fails} | ${warns} |`
  })
  return `${head}\n| check | fails when | warns when |\n|---|---|---|\n${rows.join('\n')}\n`
}

const head = `<!-- Generated from src/api/preflight.ts by make reference; do not edit. -->
# Preflight checks

In the order in which their answers stand in \`status.preflight\`. How they are made, and how to skip one: [preflight](../preflight.md).
`
