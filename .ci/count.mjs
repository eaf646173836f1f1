// count.mjs STATUS REPORT…: counts of vitest's JSON reports as `N passed, N failed`; exits 1 unless everything passed. What failed is
// told here once more with its reason: the log above is long, and whoever keeps it may keep its end only.

import { existsSync, readFileSync } from 'node:fs'

const [makeStatus, ...paths] = process.argv.slice(2)
const files = []
let lost = 0
for (const path of paths) {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const results = text === '' ? [] : JSON.parse(text).testResults
  files.push(...results)
  if (results.length > 0) continue
  process.stdout.write(text === '' ? `no report was left: ${path}\n` : `no test was found: ${path}\n`)
  lost++
}

const tests = files.flatMap((file) => file.assertionResults)
const passed = tests.filter((test) => test.status === 'passed').length
const notRun = tests.filter((test) => test.status !== 'passed' && test.status !== 'failed')
for (const test of notRun) process.stdout.write(`not run: ${test.fullName}\n`)

// A file that could not even be loaded has no tests in the report, but is a failure all the same.
const brokenFiles = files.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
for (const file of brokenFiles) process.stdout.write(`broken: ${file.name}\n${shortened(file.message)}`)
for (const file of files)
  for (const test of file.assertionResults.filter(({ status }) => status === 'failed'))
    process.stdout.write(`failed: ${test.fullName} (${file.name})\n${shortened(test.failureMessages.join('\n'))}`)

const counted = tests.length - passed + brokenFiles.length + lost
const failed = counted === 0 && (makeStatus !== '0' || passed === 0) ? 1 : counted
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exit(failed === 0 ? 0 : 1)

/** As many lines as show what was expected and where. */
function shortened(message = '') {
  const lines = message.split('\n').filter((line) => line.trim() !== '')
  return lines
    .slice(0, 40)
    .map((line) => `  ${line.slice(0, 500)}\n`)
    .join('')
}
