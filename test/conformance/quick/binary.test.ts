import { testDriver } from '../driver-suite.ts'

await testDriver('binary.ts')
