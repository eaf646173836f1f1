// count.mjs REPORT STATUS: counts of vitest's JSON report as `N passed, N failed`; exits 1 unless everything passed.

import { readFileSync } from 'node:fs'

const [reportPath, makeStatus] = process.argv.slice(2)
const text = readFileSync(reportPath, 'utf8')
if (text === '') {
  process.stdout.write(`make test ended with ${makeStatus} and left no report\n0 passed, 1 failed\n`)
  process.exit(1)
}

const report = JSON.parse(text)
const tests = report.testResults.flatMap((file) => file.assertionResults)
const passed = tests.filter((test) => test.status === 'passed').length
const notRun = tests.filter((test) => test.status !== 'passed' && test.status !== 'failed')
for (const test of notRun) process.stdout.write(`not run: ${test.fullName}\n`)

// A file that could not even be loaded has no tests in the report, but is a failure all the same.
const brokenFiles = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
for (const file of brokenFiles) process.stdout.write(`broken: ${file.name}\n`)

const counted = tests.length - passed + brokenFiles.length
const failed = counted === 0 && (makeStatus !== '0' || passed === 0) ? 1 : counted
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exit(failed === 0 ? 0 : 1)
