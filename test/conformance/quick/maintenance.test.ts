import { testDriver } from '../driver-suite.ts'

await testDriver('maintenance.ts')
