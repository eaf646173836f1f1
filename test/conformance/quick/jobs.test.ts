import { testDriver } from '../driver-suite.ts'

await testDriver('jobs.ts')
