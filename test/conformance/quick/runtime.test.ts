import { testDriver } from '../driver-suite.ts'

await testDriver('runtime.ts')
