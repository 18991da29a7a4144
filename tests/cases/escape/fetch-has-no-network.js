// tries: the network by fetch
// why: fetch is there only to say that there is no network; it reaches no host
// expect: "TypeError: There is no network in this sandbox. Call a connector: svc; codemode.search(\"…\") finds methods. Whoever runs this sandbox can allow hosts: \"codemode\": { \"fetch\": [\"api.example.com\"] } in its configuration."
return await fetch('http://169.254.169.254/latest/meta-data/').catch(String);
