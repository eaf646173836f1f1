import { testDriver } from '../driver-suite.ts'

await testDriver('script.ts')
