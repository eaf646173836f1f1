import { testDriver } from '../driver-suite.ts'

await testDriver('stamps.ts')
