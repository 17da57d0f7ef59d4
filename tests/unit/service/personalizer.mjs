// Drives a loop with the public JavaScript client, unmodified. Arguments: the endpoint. Prints one line of JSON.
import createClient from "@azure-rest/ai-personalizer";

const client = (createClient.default ?? createClient)(process.argv[2], { key: "any key" }, { allowInsecureConnection: true });
const actions = ["a", "b"].map(id => ({ id, features: [{ name: id }] }));
let right = 0;
for (let t = 0; t < 120; t++) {
  const device = t % 2 ? "phone" : "desktop";
  const ranked = await client.path("/rank").post({ body: { actions, contextFeatures: [{ device }] } });
  if (ranked.status !== "201") throw new Error(JSON.stringify(ranked.body));
  const good = ranked.body.rewardActionId === (device === "phone" ? "a" : "b");
  right += good && t >= 60;
  const told = await client.path("/events/{eventId}/reward", ranked.body.eventId).post({ body: { value: good ? 1 : 0 } });
  if (told.status !== "204") throw new Error(JSON.stringify(told.body));
}
const configuration = await client.path("/configurations/service").get();
console.log(JSON.stringify({ right, wait: configuration.body.rewardWaitTime }));
